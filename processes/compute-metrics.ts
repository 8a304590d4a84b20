import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ComputePool, ComputePoolOptions } from '../compute/pool.ts';

/** Counts what the threads of the models do. */
export class ComputeMetrics {
  readonly #registry: Registry;
  readonly #tasks: Counter<'task' | 'outcome'>;
  readonly #durations: Histogram<'task'>;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#tasks = new Counter({
      name: 'liftgraph_compute_tasks_total',
      help: 'Tasks of the models, by task and outcome: ok, or why there are no figures.',
      labelNames: ['task', 'outcome'],
      registers: [registry],
    });
    this.#durations = new Histogram({
      name: 'liftgraph_compute_task_duration_seconds',
      help: 'From ordering a task to its answer, waiting for a thread included.',
      labelNames: ['task'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
      registers: [registry],
    });
  }

  /** For the pool's option of this name. */
  readonly onAnswered: NonNullable<ComputePoolOptions['onAnswered']> = (task, outcome, elapsedMs) => {
    this.#tasks.inc({ task, outcome });
    this.#durations.observe({ task }, elapsedMs / 1000);
  };

  /** Shows how busy a pool is, read at each scrape. */
  show(pool: ComputePool): void {
    const show = (name: string, help: string, figure: (stats: ReturnType<ComputePool['stats']>) => number): void => {
      const gauge: Gauge = new Gauge({
        name,
        help,
        registers: [this.#registry],
        collect: () => gauge.set(figure(pool.stats())),
      });
    };
    show('liftgraph_compute_threads', 'Threads that run the models (COMPUTE_THREADS).', ({ threads }) => threads);
    show(
      'liftgraph_compute_tasks_running',
      'Tasks that run on a thread; as many as there are threads when all are busy.',
      ({ running }) => running,
    );
    show('liftgraph_compute_tasks_waiting', 'Tasks that wait for a thread.', ({ queued }) => queued);
  }
}
