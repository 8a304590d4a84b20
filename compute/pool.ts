import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { failure, type FailureCode } from './outcome.ts';
import { CANCELLED, QUEUED } from './task-state.ts';
import type { TaskInput, TaskName, TaskOutcome } from './tasks.ts';
import type { WorkOrder } from './worker.ts';

/** All optional. */
export interface ComputePoolOptions {
  /** default: one per core */
  readonly threads?: number;
  /** tasks that may wait; further ones fail with `unavailable` */
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

/** Runs the tasks of tasks.ts on threads. */
export interface ComputePool {
  /** Never rejects: whatever goes wrong is a Failure. Typed arrays on SharedArrayBuffers are not copied. */
  run<Name extends TaskName>(name: Name, input: TaskInput<Name>, controls?: RunControls): Promise<TaskOutcome<Name>>;
  /** Resolves when every thread has loaded the models. */
  warm(): Promise<void>;
  stats(): ComputePoolStats;
  /** Cancels what runs, waits for it to answer, and ends the threads. */
  close(): Promise<void>;
}

/**
 * Room for young objects per thread; V8's own choice grows to 128 MB each and is kept for ever. The models work on typed
 * arrays, which lie outside, and are no slower for it.
 */
const YOUNG_GENERATION_MB = 16;

/** The thread's file sits beside this one and has the same extension: .ts in a checkout, .js when built. */
const workerFile = (): string => fileURLToPath(new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url));

/** A pool of `threads` threads; beyond `maxQueue` waiting tasks, `run` answers with a Failure. */
export function createComputePool({ threads = availableParallelism(), maxQueue = 256, onAnswered }: ComputePoolOptions = {}): ComputePool {
  const piscina = new Piscina({
    filename: workerFile(),
    name: 'execute',
    minThreads: threads,
    maxThreads: threads,
    maxQueue,
    // Waiting in `Atomics.wait`, a thread would never come to free the ports of tasks that are over: 2.5 kB each.
    atomics: 'disabled',
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    // The parent may run under a loader hook or test flags; the threads need neither.
    execArgv: [],
  });
  const states = new Set<Int32Array>();
  let closed = false;

  const execute = async <Name extends TaskName>(name: Name, input: TaskInput<Name>, { onProgress, cancel }: RunControls = {}): Promise<TaskOutcome<Name>> => {
    if (closed) return failure('unavailable', 'The compute pool is closed.');
    if (cancel?.aborted === true) return failure('cancelled', 'The task was cancelled.');
    const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const { port1: ours, port2: theirs } = new MessageChannel();
    let answered = false;
    const report = (fraction: unknown): void => {
      if (!answered && typeof fraction === 'number') onProgress?.(fraction);
    };
    ours.on('message', report);
    ours.unref();
    states.add(state);
    // A task that still waits in the queue is answered at once; its order is skipped when its turn comes.
    const cancelledInQueue = Promise.withResolvers<TaskOutcome<Name>>();
    const onCancel = (): void => {
      if (Atomics.exchange(state, 0, CANCELLED) === QUEUED) cancelledInQueue.resolve(failure('cancelled', 'The task was cancelled.'));
    };
    cancel?.addEventListener('abort', onCancel, { once: true });
    const order: WorkOrder<Name> = { name, input, progress: theirs, state };
    try {
      const finished: Promise<TaskOutcome<Name>> = piscina.run(order, { transferList: [theirs] });
      const outcome = await Promise.race([finished, cancelledInQueue.promise]);
      for (let left = receiveMessageOnPort(ours); left !== undefined; left = receiveMessageOnPort(ours)) report(left.message);
      return outcome;
    } catch (error) {
      return failure('unavailable', `The compute pool could not run the task: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      answered = true;
      cancel?.removeEventListener('abort', onCancel);
      states.delete(state);
      ours.close();
    }
  };

  return {
    async run(name, input, controls) {
      const startedMs = performance.now();
      const outcome = await execute(name, input, controls);
      onAnswered?.(name, outcome.ok ? 'ok' : outcome.code, performance.now() - startedMs);
      return outcome;
    },
    warm: async () => {
      const arrived = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      await Promise.all(Array.from({ length: threads }, () => piscina.run({ arrived, threads }, { name: 'warm' })));
    },
    stats: () => ({ threads: piscina.threads.length, queued: piscina.queueSize, running: Math.min(piscina.threads.length, Math.max(0, states.size - piscina.queueSize)), completed: piscina.completed, utilization: piscina.utilization }),
    close: async () => {
      closed = true;
      for (const state of states) Atomics.store(state, 0, CANCELLED);
      await piscina.close();
    },
  };
}
