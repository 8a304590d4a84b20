import { mkdir, rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { ChdbServer, type ChdbServerOptions } from './chdb-server.ts';
import { endProcess } from './end-process.ts';
import type { WatchdogOptions } from './engine-watchdog.ts';

/**
 * The embedded columnar engine as a process of its own. It must be a process, since the engine crashes in worker
 * threads, and stays on the main thread of it. Its first line of standard input is its configuration; the end of
 * standard input is the end of the parent, and of it.
 */
interface ProgramConfig extends ChdbServerOptions {
  /** Of this process, resident; beyond it the process ends. */
  readonly mostMemoryBytes: number;
}

const BEAT_MS = 500;

// An exit in order would hang in the engine's destructors, the watchdog ended already.
process.on('uncaughtException', (error) => endProcess(error.stack));
// Whoever read them has gone; standard input tells.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
const config = JSON.parse(await firstLine()) as ProgramConfig;
const beat = startWatchdog(config.mostMemoryBytes);
await rm(config.spoolPath, { recursive: true, force: true });
await mkdir(config.spoolPath, { recursive: true, mode: 0o700 });
await mkdir(config.storePath, { recursive: true, mode: 0o700 });
const server = new ChdbServer(config);
const stop = (): void => void server.stop();
process.on('SIGTERM', stop);
process.stdin.on('end', stop);
process.stdin.resume();
const port = await server.listen();
beat();
process.stdout.write(`${JSON.stringify({ port })}\n`);

async function firstLine(): Promise<string> {
  return new Promise((resolve) => {
    let line = '';
    const onData = (chunk: Buffer) => {
      line += chunk.toString();
      const end = line.indexOf('\n');
      if (end < 0) return;
      process.stdin.off('data', onData);
      resolve(line.slice(0, end));
    };
    process.stdin.on('data', onData);
  });
}

/**
 * Starts the thread that ends the process when this one can't.
 * @returns begins to tell it that this thread is free: opening a large store may take long
 */
function startWatchdog(mostMemoryBytes: number): () => void {
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const counter = new Int32Array(beats);
  const workerData: WatchdogOptions = { beats, beatMs: BEAT_MS, mostMemoryBytes };
  const watchdog = new Worker(
    new URL(`./engine-watchdog${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url),
    { workerData },
  );
  // Without it nobody would end this process.
  watchdog.on('error', (error) => endProcess(String(error)));
  return () => {
    Atomics.add(counter, 0, 1);
    setInterval(() => Atomics.add(counter, 0, 1), BEAT_MS);
  };
}
