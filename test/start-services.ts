import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../platform/clickhouse/embedded-server.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-server.ts';
import { createLogger } from '../platform/telemetry/logs.ts';
import { SERVICES_VARIABLE, type TestServices } from './platform.ts';

/** What stop-services.ts finds in the same process. */
export interface RunningServices {
  readonly folder: string;
  stop(): Promise<void>;
}

/** Jest's globalSetup: real servers, once per run. Test files reach them through `test/platform.ts`. */
async function startServices(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'liftgraph-test-'));
  // Under root, PostgreSQL's own account passes through here to its files.
  chmodSync(folder, 0o711);
  const logger = createLogger({ level: 'error', format: 'pretty' });
  const [postgres, clickhouse] = await Promise.all([
    startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger }),
    startEmbeddedClickHouse({ dataDir: join(folder, 'clickhouse'), logger }),
  ]);
  const services: TestServices = { postgresOwnerUrl: postgres.ownerUrl, postgresApplicationUrl: postgres.applicationUrl, clickhouseUrl: clickhouse.url };
  process.env[SERVICES_VARIABLE] = JSON.stringify(services);
  const running: RunningServices = {
    folder,
    stop: async () => {
      await Promise.all([postgres.stop(), clickhouse.stop()]);
    },
  };
  Object.assign(globalThis, { liftgraphServices: running });
}

export { startServices as default };
