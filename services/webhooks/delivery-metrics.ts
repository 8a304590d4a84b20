import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Outcome } from './delivery.ts';

/** Counts the messages that one process sends to webhooks. */
export class DeliveryMetrics {
  readonly #attempts: Counter<'outcome'>;
  readonly #underWay: Gauge;
  readonly #durations: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#attempts = new Counter({
      name: 'liftgraph_webhook_delivery_attempts_total',
      help:
        'Attempts at webhook deliveries, by outcome: success, or what went wrong; unsettled ones are sent again ' +
        'when their claim has run out.',
      labelNames: ['outcome'],
      registers,
    });
    this.#underWay = new Gauge({
      name: 'liftgraph_webhook_deliveries_in_flight',
      help: 'Webhook deliveries that this process is sending.',
      registers,
    });
    this.#durations = new Histogram({
      name: 'liftgraph_webhook_delivery_duration_seconds',
      help: 'From the lookup of the name to the last byte that is read of the answer.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers,
    });
  }

  /** Makes an attempt and counts it. */
  async counted(attempt: () => Promise<Outcome>): Promise<void> {
    let outcome: string = 'unsettled';
    this.#underWay.inc();
    try {
      const { error, responseTimeMs } = await attempt();
      outcome = error ?? 'success';
      this.#durations.observe(responseTimeMs / 1000);
    } finally {
      this.#underWay.dec();
      this.#attempts.inc({ outcome });
    }
  }
}
