import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { recordEngine } from './orphan-engine.ts';

export interface EngineProcessOptions {
  readonly password: string;
  /** 0 for a free one. */
  readonly port: number;
  /** For statements of tenants. */
  readonly sessions: number;
  /** Resident; an engine that takes more is ended. */
  readonly mostMemoryBytes: number;
  /** What results that wait for their readers leave free on the disk. */
  readonly reserveBytes: number;
}

const START_TIMEOUT_MS = 60_000;
/** The process ends itself within 6 s, unless its main thread hangs: then it does not answer the signal. */
const STOP_TIMEOUT_MS = 7_000;
const ANSWER_TIMEOUT_MS = 3_000;
const KEPT_OUTPUT = 4_000;
/** Freed pages go back to the system within a second, instead of five: its own bound of memory does not count them. */
const ALLOCATOR = 'dirty_decay_ms:1000';
/** Beside this file under its own extension: TypeScript in the checkout, JavaScript in a build. */
const PROGRAM = fileURLToPath(
  new URL(`./engine-program${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url),
);

/**
 * One run of the engine's process. It ends with its parent: its standard input is a pipe that only the parent holds.
 */
export class EngineProcess {
  readonly exited: Promise<void>;
  readonly port: number;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #output: { text: string };

  private constructor(
    child: ChildProcessByStdio<Writable, Readable, Readable>,
    exited: Promise<void>,
    output: { text: string },
    port: number,
  ) {
    this.#child = child;
    this.exited = exited;
    this.#output = output;
    this.port = port;
  }

  /** @throws Error with what the process printed when it ends or hangs before it listens */
  static async start(folder: string, options: EngineProcessOptions): Promise<EngineProcess> {
    // The folder is an argument so that the process can be told from another one's; its secrets come by standard input.
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, folder], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // A thread for each statement that may run, and some for files and for control.
      env: {
        PATH: process.env['PATH'] ?? '',
        TZ: 'UTC',
        UV_THREADPOOL_SIZE: String(options.sessions + 8),
        JE_MALLOC_CONF: ALLOCATOR,
      },
      // A group of its own, so that Ctrl-C reaches the parent alone and the engine stops in its turn.
      detached: true,
    });
    const output = { text: '' };
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', (error) => {
        output.text += error.message;
        resolve();
      });
    });
    // A process that died on its way has closed the pipe; `exited` tells.
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => (output.text = (output.text + chunk.toString()).slice(-KEPT_OUTPUT)));
    const config = { ...options, storePath: join(folder, 'store'), spoolPath: join(folder, 'spool') };
    child.stdin.write(`${JSON.stringify(config)}\n`);
    if (child.pid !== undefined) await recordEngine(folder, child.pid);
    try {
      return new EngineProcess(child, exited, output, await portOf(child.stdout, exited, output));
    } catch (error) {
      // One that hangs on its way would be in the way of the next.
      child.kill('SIGKILL');
      await exited;
      throw error;
    }
  }

  /** The last of what the process printed. */
  get output(): string {
    return this.#output.text.trim();
  }

  /** Ends the process: in order if it can, hard if it does not answer or takes too long. */
  async stop(): Promise<void> {
    const ended = new AbortController();
    const late = (ms: number) => sleep(ms, 'late' as const, { signal: ended.signal }).catch(() => undefined);
    const begun = new Promise<void>((resolve) => this.#child.stdout.once('data', () => resolve()));
    this.#child.kill('SIGTERM');
    const first = await Promise.race([this.exited, begun, late(ANSWER_TIMEOUT_MS)]);
    const last = first ?? (await Promise.race([this.exited, late(STOP_TIMEOUT_MS)]));
    ended.abort();
    if (last === 'late') this.#child.kill('SIGKILL');
    await this.exited;
  }
}

async function portOf(stdout: Readable, exited: Promise<void>, output: { text: string }): Promise<number> {
  const done = new AbortController();
  const line = new Promise<string>((resolve) => stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  const late = sleep(START_TIMEOUT_MS, undefined, { signal: done.signal }).catch(() => undefined);
  const first = await Promise.race([line, exited, late]);
  done.abort();
  if (first === undefined) throw new Error(`the columnar engine did not start: ${output.text.trim()}`);
  stdout.resume();
  return (JSON.parse(first) as { port: number }).port;
}
