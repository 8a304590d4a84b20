import { ConfigError, loadConfig, type Config } from '../../platform/config.ts';
import { externalDatabaseUrls, type DatabaseUrls } from '../../platform/postgres/application-role.ts';
import { runningEmbeddedPostgres } from '../../platform/postgres/embedded-server.ts';
import { BadInputError } from './bad-input-error.ts';

/** The configuration of the service that a command is about, from the environment. @throws BadInputError */
export function configuration(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    throw error instanceof ConfigError ? new BadInputError(error.message, { cause: error }) : error;
  }
}

/** Of the database that is configured, or runs on the data directory. @throws BadInputError */
export function databaseUrls({ databaseUrl: url, databaseOwnerUrl, dataDir }: Config): DatabaseUrls {
  const urls = url === undefined ? runningEmbeddedPostgres(dataDir) : externalDatabaseUrls(url, databaseOwnerUrl);
  if (urls !== undefined) return urls;
  throw new BadInputError(`Nothing runs on the data directory ${dataDir}. Start Liftgraph there first, or name it with LIFTGRAPH_DATA_DIR, or its database with DATABASE_URL.`);
}
