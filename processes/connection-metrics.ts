import { Counter, Gauge, type Registry } from 'prom-client';

/** Counts the connections of a server. */
export class ConnectionMetrics {
  readonly #registry: Registry;
  readonly #refused: Counter<'full'>;
  readonly #gaveWay: Counter;
  readonly #unread: Counter;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#refused = new Counter({
      name: 'liftgraph_http_connections_refused_total',
      help:
        'Connections that got no place, since as many were busy as there may be, of their address or of all, or ' +
        'since too many came.',
      labelNames: ['full'],
      registers: [registry],
    });
    this.#gaveWay = new Counter({
      name: 'liftgraph_http_connections_gave_way_total',
      help: 'Idle connections that were closed because a new one needed their place.',
      registers: [registry],
    });
    this.#unread = new Counter({
      name: 'liftgraph_http_connections_unread_total',
      help:
        'Connections that were cut because their clients did not read what they had asked for, and memory ' +
        'ran short.',
      registers: [registry],
    });
  }

  /** Shows how many there are, read at each scrape. */
  show(max: number, open: () => number): void {
    const limit = 'liftgraph_http_connections_max';
    new Gauge({ name: limit, help: 'CONNECTIONS_MAX.', registers: [this.#registry] }).set(max);
    const gauge: Gauge = new Gauge({
      name: 'liftgraph_http_connections_open',
      help: 'Connections of clients, busy or idle; WebSockets are among them.',
      registers: [this.#registry],
      collect: () => gauge.set(open()),
    });
  }

  /** A connection came and got no place. */
  refused(full: 'address' | 'all' | 'rate'): void {
    this.#refused.inc({ full });
  }

  /** A client did not read. */
  unread(): void {
    this.#unread.inc();
  }

  /** An idle connection lost its place to a new one. */
  gaveWay(): void {
    this.#gaveWay.inc();
  }
}
