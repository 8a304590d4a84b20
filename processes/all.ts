import { FirstAccount } from '../platform/auth/first-account.ts';
import { KeyStore } from '../platform/auth/key-store.ts';
import { openOauth } from '../platform/auth/oauth/oauth.ts';
import { AdmissionMetrics } from '../platform/auth/metered-admission.ts';
import { PostgresAdmission } from '../platform/auth/postgres-admission.ts';
import type { Config } from '../platform/config.ts';
import { PostgresClaims } from '../platform/idempotency/claims.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { processRegistry } from '../platform/telemetry/registry.ts';
import { PublicKeyStore } from '../platform/trust/signing-key-store.ts';
import { auditPlaces, auditSealer, repeatedly } from './audit-services.ts';
import { holdDataDirectory, KEY_ENCRYPTION_SECRET, KEY_PEPPER_SECRET } from './data-directory.ts';
import { findOauthClient } from '../subgraphs/agents/registry/oauth-clients.ts';
import { prepareExample } from './example-files.ts';
import { startStores } from './embedded-stores.ts';
import { localExports } from './exports-port.ts';
import { openFront } from './front.ts';
import { MIGRATION_OWNERS, openGround } from './ground.ts';
import { openWayOut } from './outgoing.ts';
import { healthReport } from './health.ts';
import { localRecords } from './records-port.ts';
import { packageVersion } from './package-version.ts';
import type { Running } from './running.ts';
import { buildSubgraphs, recordsPort } from './subgraph-set.ts';
import { welcome } from './welcome.ts';
import { startWorker } from './worker.ts';

/** Everything in one process: the stores where none are named, the subgraphs, a worker, the gateway and the doors. */
export async function startAll(config: Config, logger: Logger): Promise<Running> {
  const clock = () => new Date();
  const undo: (() => Promise<void>)[] = [];
  const undoAll = async () => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    const directory = holdDataDirectory(config.dataDir, clock);
    undo.push(() => Promise.resolve(directory.release()));
    const stores = await startStores(config, logger);
    undo.push(() => stores.stop());
    await migrate({ ownerUrl: stores.database.ownerUrl, owners: MIGRATION_OWNERS });
    const ground = await openGround({ config, database: stores.database, clickhouse: { url: stores.clickhouseUrl, database: 'liftgraph' }, applicationName: 'liftgraph', logger, registry: processRegistry({ version: packageVersion(), role: config.role }) });
    undo.push(() => ground.close());
    const keyPepper = Buffer.from(config.keyPepper ?? directory.secret(KEY_PEPPER_SECRET));
    const keyEncryptionKey = config.keyEncryptionKey ?? directory.secret(KEY_ENCRYPTION_SECRET);

    const outgoing = openWayOut(config);
    undo.push(() => outgoing.close());
    const [subgraphs, worker] = await Promise.all([buildSubgraphs({ ground, keyPepper, keyEncryptionKey, outgoing, auditPlaces: auditPlaces(config), clock, config }), startWorker({ ground, config, keyEncryptionKey, outgoing, logger, clock })]);
    undo.push(() => worker.close());
    const admission = new AdmissionMetrics(ground.registry).metered(new PostgresAdmission({ database: ground.database, pubSub: ground.pubSub, keyPepper, rateLimits: config.rateLimits, logger }));
    const sealer = auditSealer(ground.database, keyPepper);
    const sealing = repeatedly(() => sealer.sealAll(), 'the audit log could not be sealed and will be tried again', logger);
    undo.push(() => sealing.stop());
    const example = await prepareExample(config.dataDir, clock());
    const front = await openFront({
      config,
      subgraphs,
      firstAccount: config.bootstrapToken === undefined ? null : new FirstAccount(ground.database, new KeyStore(ground.database, keyPepper), config.bootstrapToken),
      admission,
      oauth: openOauth({ database: ground.database, keyPepper, admission, findClient: findOauthClient(ground.database), publicBaseUrl: config.publicBaseUrl }),
      ingestRecords: localRecords(ground.database, recordsPort({ ground, clock }).receiveRecords),
      claims: new PostgresClaims({ ...ground, secret: keyEncryptionKey, logger }),
      keys: new PublicKeyStore(ground.database),
      exportAttribution: localExports(ground),
      health: () => healthReport(ground, worker.pool, process.uptime()),
      registry: ground.registry,
      logger,
      clock,
    });
    return {
      welcome: welcome(config, front.port, example),
      async stop(announceMs) {
        // Side by side, since both may need their time: requests and jobs finish, and no job is begun any more.
        await Promise.all([front.stop(announceMs), ground.jobs.stop()]);
        await undoAll();
      },
    };
  } catch (error) {
    await undoAll();
    throw error;
  }
}
