/**
 * How soon a task stops that is cancelled: `node --import ./processes/typescript-hook.mjs bench/compute/cancelling.ts
 * [events] [channels,…]` The longest stretch of work between two checks of the cancel flag, per task, in milliseconds
 * of CPU time of the thread: what others do on the machine does not count. Then, on the pool, the time from the abort
 * to the answer, at five moments of each task.
 */
import { createComputePool } from '../../compute/pool.ts';
import { runTask, type TaskInput, type TaskName } from '../../compute/tasks.ts';
import { say } from './stopwatch.ts';
import { heavyTasks } from './heavy-tasks.ts';

const BAR_MS = 200;
const MOMENTS = 5;

const events = Number(process.argv[2] ?? 10_000_000);
/** Many events, and fewer of as many channels as a model takes. */
const channels = (process.argv[3] ?? '12,60,500').split(',').map(Number);
const tasks = channels.flatMap((count) =>
  heavyTasks(events * Math.min(1, (12 / count) ** 1.2), count, count <= 12 ? [1, 2, 3, 4] : [1]),
);
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

say(`longest work between two looks, ms of CPU (bar: ${BAR_MS})`);
for (const [label, name, input] of tasks) {
  let [last, longest, at, looks] = [cpuMs(), 0, 0, 0];
  const throwIfCancelled = (fraction: number): void => {
    const now = cpuMs();
    if (now - last > longest) [longest, at] = [now - last, fraction];
    [last, looks] = [now, looks + 1];
  };
  const begunMs = cpuMs();
  const outcome = runTask(name, input, throwIfCancelled);
  const wholeMs = cpuMs() - begunMs;
  throwIfCancelled(1);
  const failure = outcome.ok ? '' : `   (${outcome.code}: ${outcome.message})`;
  const verdict = longest > BAR_MS ? '   ABOVE THE BAR' : '';
  say(
    `${label.padEnd(40)} ${longest.toFixed(1).padStart(8)} at ${at.toFixed(2)}   of ` +
      `${wholeMs.toFixed(0).padStart(7)}, ${looks} looks${failure}${verdict}`,
  );
}

say('\nfrom the abort to the answer, ms, on a pool of one thread');
const pool = createComputePool({ threads: 1 });
await pool.warm();
for (const [label, name, input] of tasks) {
  const waits: number[] = [];
  const wholeMs = await timeOf(name, input);
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const cancel = new AbortController();
    const running = pool.run(name, input, { cancel: cancel.signal });
    await new Promise((resolve) => setTimeout(resolve, (wholeMs * (moment + 0.5)) / MOMENTS));
    const abortedMs = performance.now();
    cancel.abort();
    const outcome = await running;
    if (!outcome.ok && outcome.code === 'cancelled') waits.push(performance.now() - abortedMs);
  }
  const sorted = waits.toSorted((a, b) => a - b);
  say(
    `${label.padEnd(40)} p50 ${(sorted[sorted.length >> 1] ?? NaN).toFixed(1).padStart(7)}   most ` +
      `${(sorted.at(-1) ?? NaN).toFixed(1).padStart(7)}   (${waits.length} of ${MOMENTS} were cancelled, the others ` +
      `had ended)`,
  );
}
await pool.close();

async function timeOf<Name extends TaskName>(name: Name, input: TaskInput<Name>): Promise<number> {
  const begunMs = performance.now();
  await pool.run(name, input);
  return performance.now() - begunMs;
}
