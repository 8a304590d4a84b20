import { join } from 'node:path';
import { Registry } from 'prom-client';
import { authOwner } from '../services/identity/migrations.ts';
import { connectClickHouse, type ClickHouse } from '../platform/clickhouse/client.ts';
import { meteredClickHouse } from '../platform/clickhouse/metered-clickhouse.ts';
import type { Config } from './config/config.ts';
import { eventsOwner } from '../services/event-migrations.ts';
import { createJobs, type Jobs } from '../platform/jobs/jobs.ts';
import { jobsOwner } from '../platform/jobs/jobs-migrations.ts';
import { idempotencyOwner } from '../services/idempotency/migrations.ts';
import type { DatabaseUrls } from '../platform/postgres/application-role.ts';
import { openDatabase, type Database } from '../platform/postgres/database.ts';
import { showPool } from '../platform/postgres/pool-metrics.ts';
import type { MigrationOwner } from '../platform/postgres/migrate.ts';
import { trustOwner } from '../services/trust/migrations.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../platform/postgres/pub-sub.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { agentsOwner } from '../subgraphs/agents/migrations.ts';
import { agentsEntities } from '../subgraphs/agents/subgraph.ts';
import { attributionOwner } from '../subgraphs/attribution/migrations.ts';
import { attributionEntities } from '../subgraphs/attribution/subgraph.ts';
import { billingOwner } from '../subgraphs/billing/migrations.ts';
import { ReadingRoom } from '../subgraphs/attribution/intake/files/reading-room.ts';
import { migrateColumnarTables } from '../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import type { DiskWatch } from './disk-watch.ts';

/** Everyone who has tables in PostgreSQL. */
export const MIGRATION_OWNERS: readonly MigrationOwner[] = [
  pubSubOwner,
  jobsOwner,
  authOwner,
  eventsOwner,
  idempotencyOwner,
  trustOwner,
  agentsOwner,
  attributionOwner,
  billingOwner,
];

/** What a process of ours consumes and others provide: the stores, the messages between processes, the job queue. */
export interface BackingServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly jobs: Jobs;
  readonly clickhouse: ClickHouse;
  /** Where uploaded files are read. */
  readonly readingRoom: ReadingRoom;
  /** Where this process counts what it does. */
  readonly registry: Registry;
  /** Closes everything, the last opened first; running jobs are waited for. */
  close(): Promise<void>;
}

export interface BackingServicesOptions {
  readonly config: Pick<
    Config,
    'databasePoolMax' | 'jobLeaseS' | 'dataDir' | 'diskReserveBytes' | 'rowsEarliestDay' | 'rowsMaxAheadHours'
  >;
  readonly database: DatabaseUrls;
  readonly clickhouse: { readonly url: string; readonly database: string };
  readonly applicationName: string;
  readonly logger: Logger;
  /** A fresh one when absent. */
  readonly registry?: Registry;
  /** Longest that a transaction may take, as `DatabaseOptions` has it. */
  readonly databaseTimeoutMs?: number;
  /** Whether this process takes jobs; true. */
  readonly takesJobs?: boolean;
  /** Refuses what there is no room for, where the stores are on a disk of ours. */
  readonly disk?: DiskWatch;
}

/** Connects to PostgreSQL and ClickHouse, both migrated already. @throws ProblemError `service_unavailable`. */
export async function openBackingServices(options: BackingServicesOptions): Promise<BackingServices> {
  const { config, logger, registry = new Registry(), databaseTimeoutMs, takesJobs = true, disk } = options;
  const url = options.database.applicationUrl;
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of opened.toReversed()) await step();
  };
  try {
    const database = await openDatabase({
      url,
      entities: [...agentsEntities, ...attributionEntities],
      applicationName: options.applicationName,
      poolMax: config.databasePoolMax,
      logger,
      ...(databaseTimeoutMs === undefined ? {} : { timeoutMs: databaseTimeoutMs }),
      ...(disk === undefined ? {} : { refuseWithoutRoom: () => disk.refuseWithoutRoom() }),
    });
    opened.push(() => database.close());
    const clickhouse = meteredClickHouse(connectClickHouse({ ...options.clickhouse, logger }), registry);
    opened.push(() => clickhouse.close());
    const readingRoom = new ReadingRoom({
      folder: join(config.dataDir, 'uploads'),
      reserveBytes: config.diskReserveBytes,
      rowDates: { earliestDay: config.rowsEarliestDay, maxAheadHours: config.rowsMaxAheadHours },
    });
    opened.push(() => readingRoom.close());
    const pubSub = await createPubSub({ url, database, logger });
    opened.push(() => pubSub.close());
    const jobs = await createJobs({
      url,
      logger,
      leaseS: config.jobLeaseS,
      takesJobs,
      registry,
      ...(databaseTimeoutMs === undefined ? {} : { connectTimeoutMs: databaseTimeoutMs }),
    });
    opened.push(() => jobs.stop());
    await migrateColumnarTables(clickhouse);
    showPool(registry, () => database.load());
    disk?.show(registry);
    return { database, pubSub, jobs, clickhouse, readingRoom, registry, close };
  } catch (error) {
    await close();
    throw error;
  }
}
