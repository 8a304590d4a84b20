import { Counter, type Registry } from 'prom-client';
import type { EventType } from '../../schema/event-catalogue.ts';

/** Counts what the relay of one process passes on. */
export class RelayMetrics {
  readonly #relayed: Counter<'type'>;
  readonly #failures: Counter;

  constructor(registry: Registry) {
    this.#relayed = new Counter({
      name: 'liftgraph_events_relayed_total',
      help: 'Events that were passed on from the outbox, by event type.',
      labelNames: ['type'],
      registers: [registry],
    });
    this.#failures = new Counter({
      name: 'liftgraph_event_relay_failures_total',
      help: 'Events that could not be passed on and will be tried again.',
      registers: [registry],
    });
  }

  relayed(type: EventType): void {
    this.#relayed.inc({ type });
  }

  failed(): void {
    this.#failures.inc();
  }
}
