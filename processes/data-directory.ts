import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';

/** A data directory that cannot be used now; the message says what to do. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
  readonly code = 'data_directory_unusable';
}

/** The directory that this instance holds, until it releases it. */
export interface DataDirectory {
  /** Absolute. */
  readonly path: string;
  /** A secret of this installation, 256 bits in base64url: made at the first call, the same ever after. */
  secret(name: string): string;
  release(): void;
}

/** Name of the secret that seals what is kept secret at rest, where the environment names none. */
export const KEY_ENCRYPTION_SECRET = 'key-encryption';
/** Name of the secret that keys the lookup values of API keys, where the environment names none. */
export const KEY_PEPPER_SECRET = 'key-pepper';

const holderSchema = z.object({ pid: z.number(), host: z.string(), since: z.string() });
const SECRET_BYTES = 32;
const SQLITE_BUSY = 5;

/**
 * Makes the data directory (closed to others) and holds it for this process. The hold is a file lock of the system,
 * taken through SQLite because Node has no call for it: it ends with the process, however that ends, so there are no
 * stale locks to recognise, and it works across containers that share a volume.
 * @throws DataDirectoryError when another process holds it or it cannot be written
 */
export function holdDataDirectory(directory: string, now: () => Date = () => new Date()): DataDirectory {
  const path = resolve(directory);
  makePrivate(path);
  const lock = lockFile(join(path, 'instance.lock'));
  if (lock === undefined) throw new DataDirectoryError(inUse(path));
  const holder: z.output<typeof holderSchema> = { pid: process.pid, host: hostname(), since: now().toISOString() };
  writeFileSync(join(path, 'instance.json'), `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  return { path, secret: (name) => knownSecret(path, name) ?? makeSecret(path, name), release: () => lock.close() };
}

/**
 * A secret that was made in this directory, whoever holds it; undefined when there is none.
 * @throws DataDirectoryError when others can read it
 */
export function knownSecret(directory: string, name: string): string | undefined {
  const path = secretPath(directory, name);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if ((stat.mode & 0o077) !== 0)
    throw new DataDirectoryError(`${path} can be read by others: close it with chmod 600, and consider it known.`);
  return readFileSync(path, 'utf8').trim();
}

function makeSecret(directory: string, name: string): string {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  writeFileSync(secretPath(directory, name), secret, { mode: 0o600, flush: true });
  return secret;
}

function secretPath(directory: string, name: string): string {
  return join(directory, `${name}.secret`);
}

function makePrivate(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    closeSync(openSync(join(path, 'instance.lock'), 'a', 0o600));
  } catch (error) {
    throw new DataDirectoryError(
      `The data directory ${path} cannot be written (${(error as Error).message}): make it writable, or choose ` +
        `another with LIFTGRAPH_DATA_DIR.`,
      { cause: error },
    );
  }
}

/** The lock, or undefined when another process holds it. */
function lockFile(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written: the open transaction is the lock.
    database.exec('pragma journal_mode = off; begin exclusive');
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

function inUse(path: string): string {
  const advice = 'Stop it first, or give this one a directory of its own with LIFTGRAPH_DATA_DIR.';
  const holder = holderSchema.safeParse(readJson(join(path, 'instance.json')));
  if (!holder.success) return `The data directory ${path} is in use by another process. ${advice}`;
  const { pid, host, since } = holder.data;
  return (
    `The data directory ${path} is in use by process ${pid}${host === hostname() ? '' : ` on ${host}`} since ` +
    `${since}. ${advice}`
  );
}

/** Undefined while the holder is just writing it. */
function readJson(path: string): unknown {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const text = readFileSync(path, 'utf8');
  return text.endsWith('}\n') ? JSON.parse(text) : undefined;
}
