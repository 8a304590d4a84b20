import type { Environment } from '../../schema/principal.ts';
import { ConfigError, loadConfig, type Config } from '../config/config.ts';
import { externalDatabaseUrls } from '../../platform/postgres/application-role.ts';
import { openDatabase, type Database } from '../../platform/postgres/database.ts';
import { runningEmbeddedPostgres } from '../../platform/postgres/embedded-server.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { KeyVault } from '../../services/trust/key-vault.ts';
import {
  PublicKeyStore,
  SigningKeyError,
  SigningKeyStore,
  SIGNING_ENVIRONMENTS,
} from '../../services/trust/signing-key-store.ts';
import { KEY_ENCRYPTION_SECRET, knownSecret } from '../data-directory.ts';
import { BadInputError } from './bad-input-error.ts';

export interface KeysOptions {
  readonly environment?: Environment;
  readonly json?: true;
  readonly lostSecret?: true;
}

/** `liftgraph keys list`. */
export async function listKeys({ environment, json }: KeysOptions): Promise<void> {
  await withDatabase(async (database) => {
    const keys = (await new PublicKeyStore(database).list()).filter(
      (key) => environment === undefined || key.environment === environment,
    );
    if (json === true) process.stdout.write(`${JSON.stringify(keys, undefined, 2)}\n`);
    else
      for (const { kid, status, environment: of, createdAt, currentSince, endedAt } of keys) {
        const dates = [
          `made ${day(createdAt)}`,
          ...(currentSince === null ? [] : [`signs since ${day(currentSince)}`]),
          ...(endedAt === null ? [] : [`ended ${day(endedAt)}`]),
        ];
        process.stdout.write(`${kid.padEnd(52)}${of.padEnd(9)}${status.padEnd(9)}${dates.join(', ')}\n`);
      }
  });
}

/** `liftgraph keys rotate`. */
export async function rotateKeys({ environment, lostSecret }: KeysOptions): Promise<void> {
  await withKeys(async (keys) => {
    // Keys sealed under a secret that the workers do not have would stop them.
    if (lostSecret !== true) await keys.assertUsable();
    for (const each of environment === undefined ? SIGNING_ENVIRONMENTS : [environment]) {
      process.stdout.write(
        `${each}: ${await keys.rotate(each)} signs from now on; what was signed before stays valid\n`,
      );
    }
  });
}

/** `liftgraph keys revoke <kid>`. */
export async function revokeKey(kid: string): Promise<void> {
  await withKeys(async (keys) => {
    await keys.assertUsable();
    await keys.revoke(kid);
    process.stdout.write(`${kid} is revoked: nothing that it signed is valid any more\n`);
  });
}

async function withKeys(work: (keys: SigningKeyStore) => Promise<void>): Promise<void> {
  const vault = new KeyVault(encryptionKey(configuration()));
  await withDatabase(async (database) => {
    try {
      await work(new SigningKeyStore(database, vault));
    } catch (error) {
      throw error instanceof SigningKeyError ? new BadInputError(error.message, { cause: error }) : error;
    }
  });
}

async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
  const logger = createLogger({ level: 'silent', format: 'json' });
  const database = await openDatabase({
    url: databaseUrl(configuration()),
    entities: [],
    applicationName: 'liftgraph-keys',
    poolMax: 2,
    logger,
  });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

function configuration(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    throw error instanceof ConfigError ? new BadInputError(error.message, { cause: error }) : error;
  }
}

function databaseUrl({ databaseUrl: url, databaseOwnerUrl, dataDir }: Config): string {
  const urls = url === undefined ? runningEmbeddedPostgres(dataDir) : externalDatabaseUrls(url, databaseOwnerUrl);
  if (urls !== undefined) return urls.applicationUrl;
  throw new BadInputError(
    `Nothing runs on the data directory ${dataDir}. Start Liftgraph there first, or name it with LIFTGRAPH_DATA_DIR, ` +
      `or its database with DATABASE_URL.`,
  );
}

function encryptionKey({ keyEncryptionKey, dataDir }: Config): string {
  const secret = keyEncryptionKey ?? knownSecret(dataDir, KEY_ENCRYPTION_SECRET);
  if (secret !== undefined) return secret;
  throw new BadInputError(
    'KEY_ENCRYPTION_KEY is not set, and the data directory has none. Give the value that the workers have.',
  );
}

function day(moment: string): string {
  return moment.slice(0, 10);
}
