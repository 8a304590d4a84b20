import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { CancelledError } from './outcome.ts';
import type { Failure } from './outcome.ts';
import { runTask } from './tasks.ts';
import type { TaskInput, TaskName, TaskOutcome } from './tasks.ts';
import { CANCELLED, QUEUED, RUNNING } from './task-state.ts';
import { stepBehind } from './thread-priority.ts';

stepBehind();

/** What the pool sends to a thread. */
export interface WorkOrder<Name extends TaskName = TaskName> {
  readonly name: Name;
  readonly input: TaskInput<Name>;
  readonly progress: MessagePort;
  /** one shared Int32: QUEUED, RUNNING or CANCELLED */
  readonly state: Int32Array;
}

/** Progress messages of one task are at least this far apart. */
const PROGRESS_STEP = 0.01;

/** Thread entry. In a checkout its types are stripped and no more is done, so all that it imports is erasable. */
export function execute<Name extends TaskName>({
  name,
  input,
  progress,
  state,
}: WorkOrder<Name>): TaskOutcome<Name> | Failure {
  Atomics.compareExchange(state, 0, QUEUED, RUNNING);
  let reported = -PROGRESS_STEP;
  const outcome = runTask(name, input, (fraction) => {
    if (Atomics.load(state, 0) === CANCELLED) throw new CancelledError();
    if (fraction < reported + PROGRESS_STEP) return;
    reported = fraction;
    progress.postMessage(fraction, []);
  });
  progress.close();
  collectGarbage();
  return outcome;
}

/**
 * V8 lets a thread gather hundreds of megabytes of garbage before it collects its old generation for the first time. A
 * full collection of what the models keep takes about ten milliseconds; this much of it comes together in some hundred
 * tasks.
 */
const GARBAGE_BYTES = 2 * 1024 * 1024;
let keptBytes = 0;

function collectGarbage(): void {
  // Only a process that was started with --expose-gc, as the launcher does, has it: V8's flags must not change while
  // threads run.
  if (globalThis.gc === undefined || outlivingBytes() < keptBytes + GARBAGE_BYTES) return;
  globalThis.gc();
  keptBytes = outlivingBytes();
}

/** What V8 does not collect by itself now and then: the old generation, and what is allocated outside of the heap. */
function outlivingBytes(): number {
  const { used_heap_size: heapBytes, external_memory: outsideBytes } = getHeapStatistics();
  const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('new_'));
  return heapBytes + outsideBytes - young.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

/** Longest wait for the other threads of the pool to load. */
const WARM_TIMEOUT_MS = 10_000;

/** Holds this thread until all of `threads` have arrived here: each has then loaded the models. */
export function warm({ arrived, threads }: { readonly arrived: Int32Array; readonly threads: number }): void {
  Atomics.add(arrived, 0, 1);
  Atomics.notify(arrived, 0);
  for (let seen = Atomics.load(arrived, 0); seen < threads; seen = Atomics.load(arrived, 0)) {
    if (Atomics.wait(arrived, 0, seen, WARM_TIMEOUT_MS) === 'timed-out') return;
  }
}
