import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'liftgraph-test-';
/** The process of a run listens here: who is refused a connection knows that it has ended, however it did. */
const SIGN_OF_LIFE = 'alive.sock';

/** Everything that one run of the tests writes. */
export interface RunFolder {
  readonly path: string;
  /** For temporary files of whatever the run starts. */
  readonly temporary: string;
  /** Removes it with all that is in it. */
  remove(): void;
}

/** A folder for this run; those of runs that were interrupted, and so could not remove theirs, go. */
export async function openRunFolder(parent = tmpdir()): Promise<RunFolder> {
  await removeAbandoned(parent);
  const path = mkdtempSync(join(parent, PREFIX));
  const temporary = join(path, 'tmp');
  mkdirSync(temporary);
  // Under root, the accounts of servers pass through here to their files, and write temporary ones as anywhere.
  chmodSync(path, 0o711);
  chmodSync(temporary, 0o1777);
  const server = createServer((socket) => socket.destroy())
    .listen(join(path, SIGN_OF_LIFE))
    .unref();
  await once(server, 'listening');
  return {
    path,
    temporary,
    remove() {
      server.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

async function removeAbandoned(parent: string): Promise<void> {
  const folders = readdirSync(parent)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(parent, name));
  for (const folder of folders) {
    if (!(await isAbandoned(folder))) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another user's: theirs to remove.
    }
  }
}

/** Only a run that is known to be over is: what has no sign of life, yet or at all, may be anybody's. */
function isAbandoned(folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(folder, SIGN_OF_LIFE));
    socket.once('connect', () => (socket.destroy(), resolve(false)));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}
