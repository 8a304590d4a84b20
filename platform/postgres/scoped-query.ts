import { Query, type Connection, type PoolClient, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';

/**
 * A statement behind the settings that it depends on. Both travel in one message series with one Sync at its end, which makes
 * them one implicit transaction (PostgreSQL, Frontend/Backend Protocol, 55.2.3 Extended Query), so that settings that are
 * local to a transaction hold for the statement and for nothing after it.
 */
export class ScopedQuery extends Query {
  /** Read by node-postgres. */
  readonly query_timeout: number;

  private constructor(settings: QueryConfig, statement: QueryConfig & { query_timeout: number }, callback: (error: Error | undefined, results: unknown) => void) {
    super(statement, undefined, callback);
    this.query_timeout = statement.query_timeout;
    this.submit = (connection: Connection) => {
      connection.stream.cork();
      try {
        new Query(settings).submit(withoutSync(connection));
        return Query.prototype.submit.call(this, connection);
      } finally {
        connection.stream.uncork();
      }
    };
  }

  /** After an error the connection must go: what was prepared on it is unknown. */
  static send<Row extends QueryResultRow>(client: PoolClient, settings: Readonly<Record<string, string>>, statement: QueryConfig & { query_timeout: number }): Promise<QueryResult<Row>> {
    const names = Object.keys(settings);
    const setting = { name: 'scope', text: `select ${names.map((name, place) => `set_config('${name}', $${place + 1}, true)`).join(', ')}`, values: Object.values(settings) };
    return new Promise((resolve, reject) => {
      client.query(
        new ScopedQuery(setting, statement, (error, results) => {
          // One result for the settings, one for the statement.
          if (error === undefined || error === null) resolve((results as readonly QueryResult<Row>[])[1]!);
          else reject(error);
        }),
      );
    });
  }
}

function withoutSync(connection: Connection): Connection {
  return Object.create(connection, { sync: { value: () => undefined } }) as Connection;
}
