import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';

/**
 * Room for young objects per thread; V8's own choice grows to 128 MB each and is kept for ever. The models work on
 * typed arrays, which lie outside, and are no slower for it.
 */
const YOUNG_GENERATION_MB = 16;
/**
 * Large tasks and the others have turns of their own, for as many at a time as a pool has `threads` each. One thread
 * more than that is never a large task's: while these have all the others, small ones go on there, and the machine
 * shares its cores out.
 */
const SPARE_THREADS = 1;

/** The thread's file sits beside this one and has the same extension: .ts in a checkout, .js when built. */
const isCheckout = import.meta.url.endsWith('.ts');
const workerFile = fileURLToPath(new URL(`./worker${isCheckout ? '.ts' : '.js'}`, import.meta.url));
/** In a checkout, what was stripped of its types once; else each thread compiles the WebAssembly that does it. */
const LOADER = [
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('../processes/typescript-hook.mjs', import.meta.url).href,
];

/** Threads that load the models once, and run tasks of one pool or of several. Idle ones keep no process alive. */
export interface ComputeThreads {
  /** Large tasks, and others, that may run at a time. */
  readonly places: number;
  readonly runner: Piscina;
}

/** Starts threads for so many tasks at a time; one per core when absent. */
export function startComputeThreads(places = availableParallelism()): ComputeThreads {
  const count = places + SPARE_THREADS;
  return {
    places,
    runner: new Piscina({
      filename: workerFile,
      name: 'execute',
      minThreads: count,
      maxThreads: count,
      // Waiting in `Atomics.wait`, a thread would never come to free the ports of tasks that are over: 2.5 kB each.
      atomics: 'disabled',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      // The parent may run under test flags, which the threads do not need.
      execArgv: isCheckout ? LOADER : [],
    }),
  };
}
