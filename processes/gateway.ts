import { FirstAccount } from '../platform/auth/first-account.ts';
import { KeyStore } from '../platform/auth/key-store.ts';
import { openOauth } from '../platform/auth/oauth/oauth.ts';
import { AdmissionMetrics } from '../platform/auth/metered-admission.ts';
import { PostgresAdmission } from '../platform/auth/postgres-admission.ts';
import { readFileSync } from 'node:fs';
import type { RemoteSubgraph } from '../gateway/data-sources.ts';
import type { Config } from '../platform/config.ts';
import { principalTokens } from '../platform/graph/principal-token.ts';
import { PostgresClaims } from '../platform/idempotency/claims.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { PublicKeyStore } from '../platform/trust/signing-key-store.ts';
import { findOauthClient } from '../subgraphs/agents/registry/oauth-clients.ts';
import { forwardExports } from './exports-transport.ts';
import { openFront } from './front.ts';
import { healthReport } from './health.ts';
import { openRoleGround } from './role-ground.ts';
import { forwardRecords } from './records-transport.ts';
import type { Running } from './running.ts';

/** The gateway and the doors as a process of their own, in front of subgraph processes. */
export async function startGateway(config: Config, logger: Logger): Promise<Running> {
  const clock = () => new Date();
  const ground = await openRoleGround(config, logger);
  const tokens = principalTokens(config.internalSecret!, clock);
  const keyPepper = Buffer.from(config.keyPepper!);
  const admission = new AdmissionMetrics(ground.registry).metered(new PostgresAdmission({ database: ground.database, pubSub: ground.pubSub, keyPepper, rateLimits: config.rateLimits, logger }));
  const front = await openFront({
    config,
    subgraphs: remoteSubgraphs(config.subgraphUrls),
    internalSecret: config.internalSecret!,
    firstAccount: config.bootstrapToken === undefined ? null : new FirstAccount(ground.database, new KeyStore(ground.database, keyPepper), config.bootstrapToken),
    admission,
    oauth: openOauth({ database: ground.database, keyPepper, admission, findClient: findOauthClient(ground.database), publicBaseUrl: config.publicBaseUrl }),
    ingestRecords: forwardRecords(config.subgraphUrls.attribution!, tokens),
    claims: new PostgresClaims({ ...ground, secret: config.keyEncryptionKey!, logger }),
    keys: new PublicKeyStore(ground.database),
    exportAttribution: forwardExports(config.subgraphUrls.attribution!, tokens),
    health: () => healthReport(ground, null, process.uptime()),
    registry: ground.registry,
    logger,
    clock,
  });
  return {
    welcome: [`Liftgraph gateway is up at ${config.tlsCertFile === undefined ? 'http' : 'https'}://${config.host}:${front.port}`],
    async stop(announceMs) {
      await front.stop(announceMs);
      await ground.close();
    },
  };
}

/** The subgraphs as the repository prints them: what a release of the gateway was tested with. */
function remoteSubgraphs(urls: Config['subgraphUrls']): RemoteSubgraph[] {
  return (['attribution', 'agents', 'billing'] as const).map((name) => ({
    name,
    url: urls[name]!,
    sdl: readFileSync(new URL(`../schema/subgraphs/${name}.graphql`, import.meta.url), 'utf8'),
  }));
}
