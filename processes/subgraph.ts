import type { Config } from '../platform/config.ts';
import { principalTokens } from '../platform/graph/principal-token.ts';
import { startSubgraphServer, SUBGRAPH_PATH } from '../platform/graph/subgraph-server.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { MetricsDoor, METRICS_PATH } from '../platform/telemetry/metrics-door.ts';
import { RequestMetrics } from '../platform/telemetry/request-metrics.ts';
import { auditPlaces, auditSealer, repeatedly } from './audit-services.ts';
import { metricsListener } from './metrics-listener.ts';
import { localExports } from './exports-port.ts';
import { serveExports } from './exports-transport.ts';
import { localRecords } from './records-port.ts';
import { openWayOut } from './outgoing.ts';
import { openRoleGround } from './role-ground.ts';
import type { Running } from './running.ts';
import { serveRecords } from './records-transport.ts';
import { buildNamedSubgraph, recordsPort, type SubgraphName } from './subgraph-set.ts';

/** One subgraph as a process of its own, answering the gateway alone. */
export async function startSubgraph(config: Config, logger: Logger): Promise<Running> {
  const name = config.role.slice('subgraph:'.length) as SubgraphName;
  const clock = () => new Date();
  const ground = await openRoleGround(config, logger);
  const tokens = principalTokens(config.internalSecret!, clock);
  const keyPepper = Buffer.from(config.keyPepper!);
  const outgoing = openWayOut(config);
  // The agents subgraph alone seals anything, and does not start without the key.
  const keyEncryptionKey = config.keyEncryptionKey ?? '';
  const subgraph = await buildNamedSubgraph(name, { ground, keyPepper, keyEncryptionKey, outgoing, auditPlaces: auditPlaces(config), clock, config });
  const streams = name === 'attribution' ? { ...serveRecords(localRecords(ground.database, recordsPort({ ground, clock }).receiveRecords)), ...serveExports(localExports(ground)) } : undefined;
  const requests = new RequestMetrics(ground.registry, [METRICS_PATH, SUBGRAPH_PATH, ...Object.keys(streams ?? {})]);
  const door = new MetricsDoor({ registry: ground.registry, token: config.metricsToken, publicBaseUrl: config.publicBaseUrl });
  const server = await startSubgraphServer({ subgraph, tokens, host: config.host, port: config.port, logger, around: (inside) => requests.measured(metricsListener(door, config.publicBaseUrl, inside)), ...(streams === undefined ? {} : { streams }) });
  const sealer = auditSealer(ground.database, keyPepper);
  const sealing = name === 'agents' ? repeatedly(() => sealer.sealAll(), 'the audit log could not be sealed and will be tried again', logger) : undefined;
  return {
    welcome: [`Liftgraph subgraph ${name} is up at ${server.url}`],
    async stop() {
      await server.close();
      await sealing?.stop();
      await outgoing.close();
      await ground.close();
    },
  };
}
