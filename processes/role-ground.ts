import type { Config } from '../platform/config.ts';
import { externalDatabaseUrls } from '../platform/postgres/application-role.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { processRegistry } from '../platform/telemetry/registry.ts';
import { MIGRATION_OWNERS, openGround, type Ground } from './ground.ts';
import { packageVersion } from './package-version.ts';

/** The ground of a process that is one of several: the stores are servers that the configuration names. */
export async function openRoleGround(config: Config, logger: Logger): Promise<Ground> {
  const database = externalDatabaseUrls(config.databaseUrl!, config.databaseOwnerUrl);
  await migrate({ ownerUrl: database.ownerUrl, owners: MIGRATION_OWNERS });
  return openGround({ config, database, clickhouse: { url: config.clickhouseUrl!, database: 'liftgraph' }, applicationName: `liftgraph-${config.role.replace(':', '-')}`, logger, registry: processRegistry({ version: packageVersion(), role: config.role }) });
}
