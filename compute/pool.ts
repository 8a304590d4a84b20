import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { CrowdedTurnsError, FairTurns, type Release } from '../platform/fair-turns.ts';
import { failure, type FailureCode } from './outcome.ts';
import { CANCELLED } from './task-state.ts';
import type { TaskInput, TaskName, TaskOutcome } from './tasks.ts';
import { startComputeThreads, type ComputeThreads } from './threads.ts';
import type { WorkOrder } from './worker.ts';

/** All optional. */
export interface ComputePoolOptions {
  /** default: one per core; others' own threads, which they end, may be given instead of a number */
  readonly threads?: number | ComputeThreads;
  /** tasks of one tenant that may wait; further ones fail with `unavailable` */
  readonly maxQueue?: number;
  /** called with every answer and the time since the task was ordered */
  readonly onAnswered?: (name: TaskName, outcome: 'ok' | FailureCode, elapsedMs: number) => void;
}

/** How to watch a task and how to stop it. */
export interface RunControls {
  /** called with the fraction done, 0 … 1; never after `run` has answered */
  readonly onProgress?: (fraction: number) => void;
  /** ends the task at its next look at the flag; the thread lives on */
  readonly cancel?: AbortSignal;
}

/** How busy the pool is. */
export interface ComputePoolStats {
  readonly threads: number;
  readonly queued: number;
  readonly running: number;
  readonly completed: number;
  /** 0 … 1 */
  readonly utilization: number;
}

/** Runs the tasks of tasks.ts. */
export interface TaskRunner {
  /** Never rejects: whatever goes wrong is a Failure. Typed arrays on SharedArrayBuffers are not copied. */
  run<Name extends TaskName>(name: Name, input: TaskInput<Name>, controls?: RunControls): Promise<TaskOutcome<Name>>;
}

/** Threads for tasks. By itself it runs them for nobody in particular. */
export interface ComputePool extends TaskRunner {
  /**
   * For one tenant: a free thread goes to the one who has the fewest, and of those to whoever was served longest ago.
   * Large tasks, which may keep a thread for seconds, never take the one beyond `threads`.
   */
  of(tenant: string, isLarge?: boolean): TaskRunner;
  /** Resolves when every thread has loaded the models. */
  warm(): Promise<void>;
  stats(): ComputePoolStats;
  /** Cancels what runs, waits for it to answer, and ends the threads. */
  close(): Promise<void>;
}

/** A pool of `threads` threads; beyond `maxQueue` waiting tasks of a tenant, `run` answers with a Failure. */
export function createComputePool({
  threads: wanted,
  maxQueue = 256,
  onAnswered,
}: ComputePoolOptions = {}): ComputePool {
  const isShared = typeof wanted === 'object';
  const { places: threads, runner } = isShared ? wanted : startComputeThreads(wanted);
  const turns = new FairTurns({ places: threads, perTenant: threads, waitingPerTenant: maxQueue });
  const largeTurns = new FairTurns({ places: threads, perTenant: threads, waitingPerTenant: maxQueue });
  const waiting = (): number => turns.waiting + largeTurns.waiting;
  const open = new Set<OpenTask>();
  let completed = 0;
  let onIdle = (): void => undefined;
  let closed = false;

  const execute = async <Name extends TaskName>(
    owner: Owner,
    name: Name,
    input: TaskInput<Name>,
    { onProgress, cancel }: RunControls,
  ): Promise<TaskOutcome<Name>> => {
    if (closed) return failure('unavailable', 'The compute pool is closed.');
    const task: OpenTask = {
      state: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
      leaveQueue: new AbortController(),
    };
    const onCancel = (): void => end(task);
    open.add(task);
    cancel?.addEventListener('abort', onCancel, { once: true });
    if (cancel?.aborted === true) end(task);
    let release: Release | undefined;
    try {
      release = await (owner.isLarge ? largeTurns : turns).take(owner.tenant, task.leaveQueue.signal);
      return await runOnThread(task.state, name, input, onProgress);
    } catch (error) {
      if (task.leaveQueue.signal.aborted) return failure('cancelled', 'The task was cancelled.');
      const reason =
        error instanceof CrowdedTurnsError
          ? 'the queue is full'
          : String(error instanceof Error ? error.message : error);
      return failure('unavailable', `The compute pool could not run the task: ${reason}`);
    } finally {
      release?.();
      cancel?.removeEventListener('abort', onCancel);
      open.delete(task);
      if (open.size === 0) onIdle();
    }
  };

  const runOnThread = async <Name extends TaskName>(
    state: Int32Array,
    name: Name,
    input: TaskInput<Name>,
    onProgress: RunControls['onProgress'],
  ): Promise<TaskOutcome<Name>> => {
    const { port1: ours, port2: theirs } = new MessageChannel();
    let answered = false;
    const report = (fraction: unknown): void => {
      if (!answered && typeof fraction === 'number') onProgress?.(fraction);
    };
    ours.on('message', report);
    ours.unref();
    const order: WorkOrder<Name> = { name, input, progress: theirs, state };
    try {
      const outcome: TaskOutcome<Name> = await runner.run(order, { transferList: [theirs] });
      for (let left = receiveMessageOnPort(ours); left !== undefined; left = receiveMessageOnPort(ours))
        report(left.message);
      completed += 1;
      return outcome;
    } finally {
      answered = true;
      ours.close();
    }
  };

  const runFor = async <Name extends TaskName>(
    owner: Owner,
    name: Name,
    input: TaskInput<Name>,
    controls: RunControls = {},
  ): Promise<TaskOutcome<Name>> => {
    const startedMs = performance.now();
    const outcome = await execute(owner, name, input, controls);
    onAnswered?.(name, outcome.ok ? 'ok' : outcome.code, performance.now() - startedMs);
    return outcome;
  };

  return {
    run: (name, input, controls) => runFor(NOBODY, name, input, controls),
    of: (tenant, isLarge = false) => ({
      run: (name, input, controls) => runFor({ tenant, isLarge }, name, input, controls),
    }),
    warm: async () => {
      const arrived = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const all = runner.options.maxThreads;
      await Promise.all(Array.from({ length: all }, () => runner.run({ arrived, threads: all }, { name: 'warm' })));
    },
    stats: () => ({
      threads: Math.min(threads, runner.threads.length),
      queued: waiting(),
      running: open.size - waiting(),
      completed,
      utilization: runner.utilization,
    }),
    close: async () => {
      closed = true;
      for (const task of open) end(task);
      if (!isShared) return runner.close();
      if (open.size > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    },
  };
}

/** In whose name a task is run. */
interface Owner {
  readonly tenant: string;
  readonly isLarge: boolean;
}

const NOBODY: Owner = { tenant: '', isLarge: false };

/** A task that was ordered and not answered yet. */
interface OpenTask {
  /** What its thread looks at. */
  readonly state: Int32Array;
  /** Ends its wait for a thread. */
  readonly leaveQueue: AbortController;
}

/** The thread stops at its next look; a task that has none yet is answered at once. */
function end({ state, leaveQueue }: OpenTask): void {
  Atomics.store(state, 0, CANCELLED);
  leaveQueue.abort();
}
