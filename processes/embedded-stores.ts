import { startEmbeddedClickHouse } from '../platform/clickhouse/embedded-server.ts';
import type { Config } from './config/config.ts';
import { externalDatabaseUrls, type DatabaseUrls } from '../platform/postgres/application-role.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-server.ts';
import type { Logger } from '../platform/telemetry/logs.ts';

/** Where the two stores answer, whoever runs them. */
export interface Stores {
  readonly database: DatabaseUrls;
  readonly clickhouseUrl: string;
  /** Where the files are of those that were started here. */
  readonly folders: readonly string[];
  /** Ends what was started here; servers of others are left alone. */
  stop(): Promise<void>;
}

/** Starts the embedded PostgreSQL and ClickHouse, side by side, where the configuration names no servers. */
export async function startStores(config: Config, logger: Logger): Promise<Stores> {
  const { dataDir, databaseUrl, databaseOwnerUrl, clickhouseUrl, diskReserveBytes } = config;
  const starting = await Promise.allSettled([
    databaseUrl === undefined
      ? startEmbeddedPostgres({ dataDir, logger })
      : { ...externalDatabaseUrls(databaseUrl, databaseOwnerUrl), stop: nothingToStop },
    clickhouseUrl === undefined
      ? startEmbeddedClickHouse({ dataDir, logger, reserveBytes: diskReserveBytes })
      : { url: clickhouseUrl, stop: nothingToStop },
  ]);
  const [database, clickhouse] = starting;
  const stop = async () => {
    await Promise.all(starting.map((store) => (store.status === 'fulfilled' ? store.value.stop() : undefined)));
  };
  if (database.status === 'fulfilled' && clickhouse.status === 'fulfilled') {
    const folders = 'folder' in database.value ? [database.value.folder] : [];
    return { database: database.value, clickhouseUrl: clickhouse.value.url, folders, stop };
  }
  await stop();
  throw starting.find((store) => store.status === 'rejected')!.reason;
}

function nothingToStop(): Promise<void> {
  return Promise.resolve();
}
