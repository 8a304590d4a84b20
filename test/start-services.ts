import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../platform/clickhouse/embedded-server.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-server.ts';
import { createLogger } from '../platform/telemetry/logs.ts';
import { SERVICES_VARIABLE, type TestServices } from './platform.ts';
import { openRunFolder } from './run-folder.ts';

/** What stop-services.ts finds in the same process. */
export interface RunningServices {
  /** Stops the servers and removes what the run has written. */
  stop(): Promise<void>;
}

/** Jest's globalSetup: real servers, once per run. Test files reach them through `test/platform.ts`. */
async function startServices(): Promise<void> {
  const folder = await openRunFolder();
  // Of the tests, and of every process that they start.
  process.env['TMPDIR'] = folder.temporary;
  const logger = createLogger({ level: 'error', format: 'pretty' });
  const [postgres, clickhouse] = await Promise.all([
    startEmbeddedPostgres({ dataDir: join(folder.path, 'postgres'), logger }),
    startEmbeddedClickHouse({ dataDir: join(folder.path, 'clickhouse'), logger }),
  ]);
  const services: TestServices = {
    postgresOwnerUrl: postgres.ownerUrl,
    postgresApplicationUrl: postgres.applicationUrl,
    clickhouseUrl: clickhouse.url,
  };
  process.env[SERVICES_VARIABLE] = JSON.stringify(services);
  const running: RunningServices = {
    stop: async () => {
      await Promise.all([postgres.stop(), clickhouse.stop()]);
      folder.remove();
    },
  };
  Object.assign(globalThis, { liftgraphServices: running });
}

export { startServices as default };
