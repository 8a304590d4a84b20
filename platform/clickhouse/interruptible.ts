import type { ClickHouse, StatementOptions } from './client.ts';

/**
 * The store as one piece of work sees it: all its statements end when the work is given up, in the engine too, by the
 * signal's own reason.
 */
export function interruptible(clickhouse: ClickHouse, signal: AbortSignal): ClickHouse {
  const bound = (options: StatementOptions = {}): StatementOptions => ({
    ...options,
    signal: options.signal === undefined ? signal : AbortSignal.any([signal, options.signal]),
  });
  const unlessGivenUp = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    // The client listens for the signal, and does not look at it first.
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      // Else a statement that was cut would pass for an outage, which is tried again.
      signal.throwIfAborted();
      throw error;
    }
  };
  return {
    rows: (statement, row, options) => unlessGivenUp(() => clickhouse.rows(statement, row, bound(options))),
    async *batches(statement, options) {
      const batches = clickhouse.batches(statement, bound(options))[Symbol.asyncIterator]();
      try {
        for (
          let next = await unlessGivenUp(() => batches.next());
          next.done !== true;
          next = await unlessGivenUp(() => batches.next())
        )
          yield next.value;
      } finally {
        await batches.return?.();
      }
    },
    file: (statement, format, options) => unlessGivenUp(() => clickhouse.file(statement, format, bound(options))),
    insert: (statement, data, options) => unlessGivenUp(() => clickhouse.insert(statement, data, bound(options))),
    command: (statement, options) => unlessGivenUp(() => clickhouse.command(statement, bound(options))),
    ping: () => clickhouse.ping(),
    migrate: (statements) => clickhouse.migrate(statements),
    close: () => clickhouse.close(),
  };
}
