import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Counts what the workers of one process do. */
export class JobMetrics {
  readonly #runs: Counter<'queue' | 'outcome'>;
  readonly #running: Gauge<'queue'>;
  readonly #durations: Histogram<'queue'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#runs = new Counter({
      name: 'liftgraph_job_runs_total',
      help:
        'Attempts at jobs, by queue and outcome (completed, failed); a failed one is tried again, up to its ' +
        'limit, and its last failure goes to the queue with .exhausted behind the name.',
      labelNames: ['queue', 'outcome'],
      registers,
    });
    this.#running = new Gauge({
      name: 'liftgraph_jobs_running',
      help: 'Jobs that this process is busy with.',
      labelNames: ['queue'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'liftgraph_job_duration_seconds',
      help: 'How long attempts at jobs take, those that fail included.',
      labelNames: ['queue'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900],
      registers,
    });
  }

  /** Runs an attempt and counts it. */
  async counted(queue: string, run: () => Promise<void>): Promise<void> {
    const startedMs = performance.now();
    let outcome = 'failed';
    this.#running.inc({ queue });
    try {
      await run();
      outcome = 'completed';
    } finally {
      this.#running.dec({ queue });
      this.#runs.inc({ queue, outcome });
      this.#durations.observe({ queue }, (performance.now() - startedMs) / 1000);
    }
  }
}
