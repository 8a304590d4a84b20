import { ConfigError, loadConfig, type Config } from '../config/config.ts';
import { externalDatabaseUrls, type DatabaseUrls } from '../../platform/postgres/application-role.ts';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../../platform/postgres/embedded-server.ts';
import { migrate, MigrationError } from '../../platform/postgres/migrate.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { DataDirectoryError, holdDataDirectory, KEY_PEPPER_SECRET, knownSecret } from '../data-directory.ts';
import { MIGRATION_OWNERS } from '../backing-services.ts';
import { BadInputError } from './bad-input-error.ts';

/** The database of an installation, and what its keys are looked up with. */
export interface Installation {
  readonly config: Config;
  readonly urls: DatabaseUrls;
  /** @throws BadInputError where nobody knows it */
  keyPepper(): Buffer;
}

/**
 * Works on the installation that the environment names: the servers of `DATABASE_URL`, else the data directory, whose
 * database is started for the time where the service does not run.
 * @throws BadInputError for a configuration that names none
 */
export async function withInstallation(work: (installation: Installation) => Promise<void>): Promise<void> {
  try {
    const config = loadConfig(process.env);
    const { databaseUrl, databaseOwnerUrl, dataDir } = config;
    const running = databaseUrl === undefined ? runningEmbeddedPostgres(dataDir) : undefined;
    if (running !== undefined) {
      await work({ config, urls: running, keyPepper: () => knownPepper(config) });
    } else if (databaseUrl !== undefined) {
      const urls = externalDatabaseUrls(databaseUrl, databaseOwnerUrl);
      await migrate({ ownerUrl: urls.ownerUrl, owners: MIGRATION_OWNERS });
      await work({ config, urls, keyPepper: () => knownPepper(config) });
    } else {
      await onStartedDatabase(config, work);
    }
  } catch (error) {
    const mendable =
      error instanceof ConfigError || error instanceof DataDirectoryError || error instanceof MigrationError;
    throw mendable ? new BadInputError(error.message, { cause: error }) : error;
  }
}

async function onStartedDatabase(config: Config, work: (installation: Installation) => Promise<void>): Promise<void> {
  const directory = holdDataDirectory(config.dataDir);
  try {
    const server = await startEmbeddedPostgres({
      dataDir: directory.path,
      logger: createLogger({ level: 'silent', format: 'json' }),
    });
    try {
      await migrate({ ownerUrl: server.ownerUrl, owners: MIGRATION_OWNERS });
      await work({
        config,
        urls: server,
        keyPepper: () => Buffer.from(config.keyPepper ?? directory.secret(KEY_PEPPER_SECRET)),
      });
    } finally {
      await server.stop();
    }
  } finally {
    directory.release();
  }
}

/** Keys that were made under another pepper than that of the service would never be found. */
function knownPepper({ keyPepper, dataDir }: Config): Buffer {
  const secret = keyPepper ?? knownSecret(dataDir, KEY_PEPPER_SECRET);
  if (secret !== undefined) return Buffer.from(secret);
  throw new BadInputError(
    'KEY_PEPPER is not set, and the data directory has none. Give the value that the service has.',
  );
}
