import { Counter, Histogram, type Registry } from 'prom-client';
import type { ClickHouse } from './client.ts';

/** The same store, with its statements counted and timed: for whoever waits, until the last row is read. */
export function meteredClickHouse(clickhouse: ClickHouse, registry: Registry): ClickHouse {
  const registers = [registry];
  const statements = new Counter({
    name: 'liftgraph_clickhouse_statements_total',
    help: 'Statements to the columnar store, by kind (rows, batches, file, insert, command) and outcome (ok, failed).',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'liftgraph_clickhouse_statement_duration_seconds',
    help: 'From sending a statement to the last row of its answer.',
    labelNames: ['kind'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    registers,
  });

  const started = (kind: string) => {
    const startedMs = performance.now();
    return (outcome: 'ok' | 'failed'): void => {
      statements.inc({ kind, outcome });
      durations.observe({ kind }, (performance.now() - startedMs) / 1000);
    };
  };
  const timed = async <T>(kind: string, ask: () => Promise<T>): Promise<T> => {
    const ended = started(kind);
    try {
      const answer = await ask();
      ended('ok');
      return answer;
    } catch (error) {
      ended('failed');
      throw error;
    }
  };
  return {
    rows: (statement, row, options) => timed('rows', () => clickhouse.rows(statement, row, options)),
    async *batches(statement, options) {
      const ended = started('batches');
      let outcome: 'ok' | 'failed' = 'ok';
      try {
        yield* clickhouse.batches(statement, options);
      } catch (error) {
        outcome = 'failed';
        throw error;
      } finally {
        ended(outcome);
      }
    },
    file: (statement, format, options) => timed('file', () => clickhouse.file(statement, format, options)),
    insert: (statement, data, options) => timed('insert', () => clickhouse.insert(statement, data, options)),
    command: (statement, options) => timed('command', () => clickhouse.command(statement, options)),
    // Asked by every health check: nobody's statement.
    ping: () => clickhouse.ping(),
    migrate: (changes) => clickhouse.migrate(changes),
    close: () => clickhouse.close(),
  };
}
