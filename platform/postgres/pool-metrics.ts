import { Gauge, type Registry } from 'prom-client';
import type { DatabaseLoad } from './session-pool.ts';

/** Shows how busy the connections to PostgreSQL are, read at each scrape. */
export function showPool(registry: Registry, load: () => DatabaseLoad): void {
  const show = (name: string, help: string, figure: (load: DatabaseLoad) => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(figure(load())) });
  };
  show(
    'liftgraph_postgres_connections_max',
    'Connections for transactions that this process may have (DATABASE_POOL_MAX).',
    ({ max }) => max,
  );
  show('liftgraph_postgres_connections_open', 'Connections for transactions that are open.', ({ open }) => open);
  show(
    'liftgraph_postgres_connections_in_use',
    'Connections for transactions that somebody works on.',
    ({ open, idle }) => open - idle,
  );
  show('liftgraph_postgres_transactions_waiting', 'Transactions that wait for a connection.', ({ waiting }) => waiting);
  show('liftgraph_postgres_lines_open', 'Connections that short questions share.', ({ lines }) => lines);
  show(
    'liftgraph_postgres_questions_in_flight',
    'Short questions on these that are not answered yet.',
    ({ questions }) => questions,
  );
}
