import type { Config } from '../config/config.ts';
import { principalTokens } from '../../platform/graph/principal-token.ts';
import { startSubgraphServer, SUBGRAPH_PATH } from '../../platform/graph/subgraph-server.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';
import { MetricsDoor, METRICS_PATH } from '../../platform/telemetry/metrics-door.ts';
import { RequestMetrics } from '../../platform/telemetry/request-metrics.ts';
import { auditPlaces, startSealing } from '../audit-services.ts';
import { localExports } from '../exports-port.ts';
import { serveExports } from '../exports-transport.ts';
import { openExternalServices } from '../external-services.ts';
import { metricsListener } from '../metrics-listener.ts';
import { openOutgoing } from '../outgoing.ts';
import { localRecords } from '../records-port.ts';
import { serveRecords } from '../records-transport.ts';
import type { Running } from '../running.ts';
import { buildNamedSubgraph, recordsPort, type SubgraphName } from '../subgraph-set.ts';

/** One subgraph as a process of its own, answering the gateway alone. */
export async function startSubgraph(config: Config, logger: Logger): Promise<Running> {
  const name = config.role.slice('subgraph:'.length) as SubgraphName;
  const clock = () => new Date();
  const backing = await openExternalServices(config, logger);
  const tokens = principalTokens(config.internalSecret!, clock);
  const keyPepper = Buffer.from(config.keyPepper!);
  const outgoing = openOutgoing(config);
  // The subgraphs that seal anything do not start without the key.
  const keyEncryptionKey = config.keyEncryptionKey ?? '';
  const subgraph = await buildNamedSubgraph(name, {
    backing,
    keyPepper,
    keyEncryptionKey,
    outgoing,
    auditPlaces: auditPlaces(config),
    clock,
    config,
  });
  // What GraphQL cannot carry: uploads and downloads.
  const streams =
    name === 'attribution'
      ? {
          ...serveRecords(localRecords(backing.database, recordsPort({ backing, clock }))),
          ...serveExports(localExports(backing)),
        }
      : undefined;
  const requests = new RequestMetrics(backing.registry, [METRICS_PATH, SUBGRAPH_PATH, ...Object.keys(streams ?? {})]);
  const door = new MetricsDoor({
    registry: backing.registry,
    token: config.metricsToken,
    publicBaseUrl: config.publicBaseUrl,
  });
  const server = await startSubgraphServer({
    subgraph,
    tokens,
    host: config.host,
    port: config.port,
    logger,
    around: (inside) => requests.measured(metricsListener(door, config.publicBaseUrl, inside)),
    ...(streams === undefined ? {} : { streams }),
  });
  const sealing = name === 'agents' ? startSealing(backing.database, keyPepper, logger) : undefined;
  return {
    welcome: [`Liftgraph subgraph ${name} is up at ${server.url}`],
    async stop() {
      await server.close();
      await sealing?.stop();
      await outgoing.close();
      await backing.close();
    },
  };
}
