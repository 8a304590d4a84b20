import type { Config } from '../config/config.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';
import { processRegistry } from '../../platform/telemetry/registry.ts';
import { admissionServices } from '../admission-services.ts';
import { auditPlaces, startSealing } from '../audit-services.ts';
import { MIGRATION_OWNERS, openBackingServices } from '../backing-services.ts';
import { holdDataDirectory, KEY_ENCRYPTION_SECRET, KEY_PEPPER_SECRET } from '../data-directory.ts';
import { startStores } from '../embedded-stores.ts';
import { prepareExample } from '../example-files.ts';
import { localExports } from '../exports-port.ts';
import { DiskWatch } from '../disk-watch.ts';
import { healthOf } from '../health.ts';
import { openOutgoing } from '../outgoing.ts';
import { packageVersion } from '../package-version.ts';
import { openPublicServer } from '../public-server.ts';
import { localRecords } from '../records-port.ts';
import type { Running } from '../running.ts';
import { buildSubgraphs, recordsPort } from '../subgraph-set.ts';
import { welcome } from '../welcome.ts';
import { startWorker } from '../worker.ts';

/** Everything in one process: the stores where none are named, the subgraphs, a worker, the gateway and the doors. */
export async function startAll(config: Config, logger: Logger): Promise<Running> {
  const clock = () => new Date();
  const undo: (() => Promise<void>)[] = [];
  const undoAll = async () => {
    for (const step of undo.toReversed()) await step();
  };
  const isEmbedded = config.databaseUrl === undefined || config.clickhouseUrl === undefined;
  const disk = new DiskWatch({
    folders: isEmbedded ? [config.dataDir] : [],
    reserveBytes: config.diskReserveBytes,
    logger,
  });
  try {
    const directory = holdDataDirectory(config.dataDir, clock);
    undo.push(() => Promise.resolve(directory.release()));
    await disk.look();
    const stores = await startStores(config, logger).catch(async (error: unknown) => {
      throw await disk.explained(error, true);
    });
    undo.push(() => stores.stop());
    disk.start(stores.folders);
    undo.push(() => disk.stop());
    await migrate({ ownerUrl: stores.database.ownerUrl, owners: MIGRATION_OWNERS });
    const registry = processRegistry({ version: packageVersion(), role: config.role });
    const backing = await openBackingServices({
      config,
      database: stores.database,
      clickhouse: { url: stores.clickhouseUrl, database: 'liftgraph' },
      applicationName: 'liftgraph',
      logger,
      registry,
      disk,
    });
    undo.push(() => backing.close());
    const keyPepper = Buffer.from(config.keyPepper ?? directory.secret(KEY_PEPPER_SECRET));
    const keyEncryptionKey = config.keyEncryptionKey ?? directory.secret(KEY_ENCRYPTION_SECRET);

    const outgoing = openOutgoing(config);
    undo.push(() => outgoing.close());
    const [subgraphs, worker] = await Promise.all([
      buildSubgraphs({
        backing,
        keyPepper,
        keyEncryptionKey,
        outgoing,
        auditPlaces: auditPlaces(config),
        clock,
        config,
      }),
      startWorker({ backing, config, keyEncryptionKey, outgoing, logger, clock }),
    ]);
    undo.push(() => worker.close());
    const sealing = startSealing(backing.database, keyPepper, logger);
    undo.push(() => sealing.stop());
    const example = await prepareExample(config.dataDir, clock());
    const publicServer = await openPublicServer({
      ...admissionServices({ backing, config, keyPepper, keyEncryptionKey, logger }),
      config,
      subgraphs,
      ...localRecords(backing.database, recordsPort({ backing, clock })),
      exportAttribution: localExports(backing),
      health: (pingSubgraphs) =>
        healthOf({
          pingSubgraphs,
          backing,
          pool: worker.pool,
          ...(isEmbedded ? { disk } : {}),
          uptimeSeconds: () => process.uptime(),
        }),
      registry,
      logger,
      clock,
    });
    return {
      welcome: welcome(config, publicServer.port, example, disk.isNearlyFull),
      async stop(announceMs) {
        // Side by side, since both may need their time: requests and jobs finish, and no job is begun any more.
        await Promise.all([publicServer.stop(announceMs), backing.jobs.stop()]);
        await undoAll();
      },
    };
  } catch (error) {
    const reason = await disk.explained(error);
    await undoAll();
    throw reason;
  }
}
