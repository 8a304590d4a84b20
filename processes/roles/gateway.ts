import { readFileSync } from 'node:fs';
import type { RemoteSubgraph } from '../../gateway/data-sources.ts';
import type { Config } from '../config/config.ts';
import { principalTokens } from '../../platform/graph/principal-token.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';
import { admissionServices } from '../admission-services.ts';
import { forwardExports } from '../exports-transport.ts';
import { openExternalServices } from '../external-services.ts';
import { healthOf } from '../health.ts';
import { openPublicServer } from '../public-server.ts';
import { forwardRecords } from '../records-transport.ts';
import type { Running } from '../running.ts';

/** The gateway and the doors as a process of their own, in front of subgraph processes. */
export async function startGateway(config: Config, logger: Logger): Promise<Running> {
  const clock = () => new Date();
  const backing = await openExternalServices(config, logger);
  const tokens = principalTokens(config.internalSecret!, clock);
  const publicServer = await openPublicServer({
    ...admissionServices({
      backing,
      config,
      keyPepper: Buffer.from(config.keyPepper!),
      keyEncryptionKey: config.keyEncryptionKey!,
      logger,
    }),
    config,
    subgraphs: remoteSubgraphs(config.subgraphUrls),
    internalSecret: config.internalSecret!,
    ...forwardRecords(config.subgraphUrls.attribution!, tokens),
    exportAttribution: forwardExports(config.subgraphUrls.attribution!, tokens),
    health: (pingSubgraphs) => healthOf({ pingSubgraphs, backing, pool: null, uptimeSeconds: () => process.uptime() }),
    registry: backing.registry,
    logger,
    clock,
  });
  return {
    welcome: [
      `Liftgraph gateway is up at ` +
        `${config.tlsCertFile === undefined ? 'http' : 'https'}://${config.host}:${publicServer.port}`,
    ],
    async stop(announceMs) {
      await publicServer.stop(announceMs);
      await backing.close();
    },
  };
}

/** The subgraphs as the repository prints them: what a release of the gateway was tested with. */
function remoteSubgraphs(urls: Config['subgraphUrls']): RemoteSubgraph[] {
  return (['attribution', 'agents', 'billing'] as const).map((name) => ({
    name,
    url: urls[name]!,
    sdl: readFileSync(new URL(`../../schema/subgraphs/${name}.graphql`, import.meta.url), 'utf8'),
  }));
}
