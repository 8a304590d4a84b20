import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** PostgreSQL refuses to run as root; root hands the server to an account without rights. */
export interface ServerAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const UNPRIVILEGED_ACCOUNTS = ['postgres', 'nobody'];
/**
 * Where root keeps a server that may not live below a folder of root's own; survives reboots, unlike a temporary
 * folder.
 */
const DURABLE_PLACE = '/var/lib/liftgraph';
const PASSAGE = 0o011;

/** The account a server has to run as; undefined when the process's own will do. */
export function serverAccount(): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of UNPRIVILEGED_ACCOUNTS) {
    const [uid, gid] = ['-u', '-g']
      .map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }))
      .map((run) => (run.status === 0 ? Number(run.stdout) : undefined));
    if (uid !== undefined && gid !== undefined) return { name, uid, gid };
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is neither an account "postgres" nor "nobody" to hand it to: start ' +
      'as an ordinary user, or set DATABASE_URL',
  );
}

/**
 * Whether the account may pass through the folder, or run the file; asked of the system itself, which knows ACLs and
 * mounts.
 */
export function canReach(account: ServerAccount | undefined, path: string): boolean {
  const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...identity, cwd: '/' }).status === 0;
}

/**
 * A folder for the server's files that its account can reach: inside the data directory whenever the way there is
 * open, else (root's home, a private mount) one named `id` in {@link DURABLE_PLACE}, or in the temporary folder where
 * the system is read-only.
 */
export function reachableFolder(account: ServerAccount | undefined, dataDir: string, id: string): string {
  if (account === undefined) return join(dataDir, 'postgres');
  if (canReach(account, dirname(dataDir))) return join(dataDir, 'postgres');
  for (const parent of [DURABLE_PLACE, join(tmpdir(), 'liftgraph')]) {
    try {
      mkdirSync(parent, { recursive: true, mode: 0o711 });
      // Someone else's folder of that name could be swapped under us.
      if (statSync(parent).uid === 0 && canReach(account, parent)) return join(parent, id);
    } catch (error) {
      if (!['EROFS', 'EACCES', 'EPERM', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  throw new Error(
    `PostgreSQL runs as "${account.name}", which can reach neither ${dataDir} nor ${DURABLE_PLACE}: choose another ` +
      `LIFTGRAPH_DATA_DIR, or set DATABASE_URL`,
  );
}

/**
 * Makes a folder that belongs to the server's account and is closed to all others. Its parent is ours and lets the
 * account pass through, which shows nothing of what else lies there.
 */
export function makeServerFolder(account: ServerAccount | undefined, path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (account === undefined) return;
  chownSync(path, account.uid, account.gid);
  const parent = dirname(path);
  chmodSync(parent, (statSync(parent).mode & 0o777) | PASSAGE);
  if (!canReach(account, path))
    throw new Error(
      `PostgreSQL runs as "${account.name}", which cannot reach its files in ${path}: open the folders above it ` +
        `(chmod o+x), or set DATABASE_URL`,
    );
}
