import { Query, type Connection, type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';

/** A statement that must be answered in time. */
export interface TimedQuery extends QueryConfig {
  /** As node-postgres calls it. */
  readonly query_timeout: number;
}

/**
 * A statement behind those that come before it, such as settings that it depends on. All travel in one message series
 * with one Sync at its end, which makes them one implicit transaction (PostgreSQL, Frontend/Backend Protocol, 55.2.3
 * Extended Query): settings that are local to a transaction hold for the statements behind them and for nothing after,
 * and all happens or nothing.
 */
export class ScopedQuery extends Query {
  /** Read by node-postgres. */
  readonly query_timeout: number;

  private constructor(
    before: readonly QueryConfig[],
    last: TimedQuery,
    callback: (error: Error | undefined, results: unknown) => void,
  ) {
    super(last, undefined, callback);
    this.query_timeout = last.query_timeout;
    this.submit = (connection: Connection) => {
      connection.stream.cork();
      try {
        for (const each of before) new Query(each).submit(withoutSync(connection));
        return Query.prototype.submit.call(this, connection);
      } finally {
        connection.stream.uncork();
      }
    };
  }

  /** The result of the last statement. After an error the connection must go: what was prepared on it is unknown. */
  static send<Row extends QueryResultRow>(
    client: PoolClient,
    settings: Readonly<Record<string, string>>,
    before: readonly QueryConfig[],
    last: TimedQuery,
  ): Promise<QueryResult<Row>> {
    const names = Object.keys(settings);
    const setting = {
      name: 'scope',
      text: `select ${names.map((name, place) => `set_config('${name}', $${place + 1}, true)`).join(', ')}`,
      values: Object.values(settings),
    };
    return new Promise((resolve, reject) => {
      client.query(
        new ScopedQuery([setting, ...before], last, (error, results) => {
          // One result for each statement, settings included.
          if (error === undefined || error === null) resolve((results as readonly QueryResult<Row>[]).at(-1)!);
          else reject(error);
        }),
      );
    });
  }
}

function withoutSync(connection: Connection): Connection {
  return Object.create(connection, { sync: { value: () => undefined } }) as Connection;
}
