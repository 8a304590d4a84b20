import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const FILE = 'engine.pid';
/** It ends by itself within 6 s, unless it hangs; a killed one that writes a lot to a slow disk goes a little later. */
const GRACE_MS = 8_000;
/** In the flags of a process, proc_pid_stat(5): it is on its way out. */
const PF_EXITING = 0x4;

/** Leaves a note of the engine's process id in its folder, for whoever starts after a kill. */
export async function recordEngine(folder: string, pid: number): Promise<void> {
  await writeFile(join(folder, FILE), `${pid}\n`, { mode: 0o600 });
}

/**
 * Ends an engine that still runs on this folder. The caller holds the data directory, so nobody can be using it: its
 * parent was killed, and it is finishing its last inserts, if it is not stuck.
 * @returns whether there was one
 */
export async function stopOrphanEngine(folder: string): Promise<boolean> {
  const pid = Number(await readFile(join(folder, FILE), 'utf8').catch(noFile));
  if (!Number.isSafeInteger(pid) || pid < 2 || !(await isEngineOf(folder, pid))) return false;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    signalled(pid, signal);
    for (const deadlineMs = performance.now() + GRACE_MS; performance.now() < deadlineMs; await sleep(20)) {
      if (!(await isEngineOf(folder, pid))) return true;
    }
  }
  throw new Error(`the columnar engine with process id ${pid} on ${folder} does not stop: end it by hand`);
}

/** Process ids are reused: the command line tells whether this one is still the engine of this folder. */
async function isEngineOf(folder: string, pid: number): Promise<boolean> {
  return (await commandOf(pid)).includes(folder) || isEnding(pid);
}

/**
 * Linux empties the command line of a process that ends before it closes its files, and keeps those until the last of
 * its threads is gone: so long the store stays locked.
 */
async function isEnding(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(noFile);
  const [state, , , , , , flags] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if ((Number(flags) & PF_EXITING) === 0) return false;
  return state !== 'Z' || (await threadsOf(pid)) > 1;
}

async function threadsOf(pid: number): Promise<number> {
  return readdir(`/proc/${pid}/task`).then(
    (threads) => threads.length,
    (error: NodeJS.ErrnoException) => noFile(error).length,
  );
}

async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(noFile);
  return promisify(execFile)('ps', ['-p', String(pid), '-o', 'command=']).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

function signalled(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function noFile(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' || error.code === 'ESRCH') return '';
  throw error;
}
