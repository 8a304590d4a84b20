import { Worker } from 'node:worker_threads';

/**
 * Kills this process in so many milliseconds, unless it has ended by then. A thread of its own counts them: timers of
 * the main thread come late when that has too much to do, and would be late for its end as well.
 */
export function killWithin(timeoutMs: number): void {
  const program = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), require('node:worker_threads').workerData)`;
  new Worker(program, { eval: true, workerData: timeoutMs, execArgv: [] }).unref();
}
