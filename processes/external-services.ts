import type { Config } from './config/config.ts';
import { externalDatabaseUrls } from '../platform/postgres/application-role.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { processRegistry } from '../platform/telemetry/registry.ts';
import { MIGRATION_OWNERS, openBackingServices, type BackingServices } from './backing-services.ts';
import { packageVersion } from './package-version.ts';

/** The backing services of a process that is one of several: servers that the configuration names, migrated first. */
export async function openExternalServices(config: Config, logger: Logger): Promise<BackingServices> {
  const database = externalDatabaseUrls(config.databaseUrl!, config.databaseOwnerUrl);
  await migrate({ ownerUrl: database.ownerUrl, owners: MIGRATION_OWNERS });
  return openBackingServices({
    config,
    database,
    clickhouse: { url: config.clickhouseUrl!, database: 'liftgraph' },
    applicationName: `liftgraph-${config.role.replace(':', '-')}`,
    logger,
    takesJobs: config.role === 'worker',
    registry: processRegistry({ version: packageVersion(), role: config.role }),
  });
}
