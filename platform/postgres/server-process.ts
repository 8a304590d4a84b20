import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerAccount } from './server-account.ts';

/**
 * A small shell between Node and the server. It holds the read end of a pipe whose other end is ours alone: when this
 * process ends, however it ends, `read` sees the end of file and the server gets SIGINT, PostgreSQL's fast shutdown.
 */
const WATCHING_PARENT = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
(read -r _ <&3; kill -INT $server 2>/dev/null) &
watcher=$!
exec 3<&-
wait $server
code=$?
kill $watcher 2>/dev/null
exit $code`;

const STOP_TIMEOUT_MS = 20_000;
const ORPHAN_TIMEOUT_MS = 15_000;
const KEPT_OUTPUT = 4_000;
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** A server that cannot outlive this process. */
export class ServerProcess {
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #output = '';
  #running = true;

  constructor(account: ServerAccount | undefined, program: string, args: readonly string[]) {
    this.#child = spawn('/bin/sh', ['-c', WATCHING_PARENT, 'sh', program, ...args], {
      ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
      cwd: '/',
      env: ENVIRONMENT,
      stdio: ['pipe', 'ignore', 'pipe'],
      // A group of its own, so that Ctrl-C reaches us alone and the server stops in its turn.
      detached: true,
    });
    this.#child.stderr?.on(
      'data',
      (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT)),
    );
    // Closing the pipe of a server that is gone already.
    this.#child.stdin?.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      const ended = () => {
        this.#running = false;
        this.#child.stdin?.destroy();
        resolve();
      };
      this.#child.once('exit', ended);
      this.#child.once('error', (error) => {
        this.#output += error.message;
        ended();
      });
    });
  }

  get running(): boolean {
    return this.#running;
  }

  /** The last of what the server printed before it had a log file. */
  get output(): string {
    return this.#output.trim();
  }

  /** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
  async stop(): Promise<void> {
    if (!this.#running) return;
    this.#child.stdin?.end();
    const deadline = new AbortController();
    await Promise.race([
      this.exited,
      sleep(STOP_TIMEOUT_MS, undefined, { signal: deadline.signal }).catch(() => undefined),
    ]);
    deadline.abort();
    if (this.#running && this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    await this.exited;
  }
}

/** Runs a program to its end. @throws Error with what it printed */
export async function runProgram(
  account: ServerAccount | undefined,
  program: string,
  args: readonly string[],
): Promise<void> {
  const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  const child = spawn(program, args, { ...identity, cwd: '/', env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  if (code !== 0) throw new Error(`${program} failed: ${output.trim()}`);
}

/**
 * Stops a server that still runs on this cluster. The caller holds the data directory, so nobody can be using it:
 * its shell was killed along with our predecessor.
 */
export async function stopOrphan(cluster: string): Promise<boolean> {
  const pid = numberInPidFile(cluster, 0);
  if (pid === undefined || !commandOf(pid).includes(cluster)) return false;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!signalled(pid, signal)) return true;
    const deadlineMs = performance.now() + ORPHAN_TIMEOUT_MS;
    while (performance.now() < deadlineMs) {
      if (!commandOf(pid).includes(cluster)) return true;
      await sleep(20);
    }
  }
  throw new Error(`the PostgreSQL server with process id ${pid} on ${cluster} does not stop: end it by hand`);
}

/** The port of a server that runs on this cluster; undefined where none does. */
export function runningPort(cluster: string): number | undefined {
  const [pid, port] = [numberInPidFile(cluster, 0), numberInPidFile(cluster, 3)];
  return pid === undefined || !commandOf(pid).includes(cluster) ? undefined : port;
}

/** postmaster.pid holds the process id in its first line and the port in its fourth. */
function numberInPidFile(cluster: string, line: number): number | undefined {
  try {
    const value = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[line]);
    return Number.isSafeInteger(value) && value > 1 ? value : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The command line of a process; empty when there is none. Tells the server from a stranger that got its old number.
 */
function commandOf(pid: number): string {
  if (process.platform !== 'linux')
    return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
