import type { PoolClient, QueryResult } from 'pg';
import { settingsOf, type TenantScope } from './tenant-scope.ts';

export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';

export interface SessionOptions {
  /** Undefined: no tenant, row level security shows nothing. */
  readonly tenant: TenantScope | string | undefined;
  /** Until the whole transaction has to be over. */
  readonly timeoutMs: number;
  readonly isolation: IsolationLevel;
  /** In whose turn a connection is waited for, where there is no tenant. */
  readonly turnOf?: string | undefined;
}

type Send = (text: string, values?: readonly unknown[]) => Promise<QueryResult>;
const COMMIT = /^commit$/i;
const END_OF_TRANSACTION = /^(?:commit|rollback)$/i;
/** A transaction that asked nothing was never opened. */
const NOTHING: QueryResult = { command: '', rowCount: null, oid: 0, fields: [], rows: [] };
/** Statements of {@link Session.beginSql}. */
const BEGIN_STATEMENTS = 2;

/** One attempt at a transaction: who it is for, how long it may take, and the connection it got. */
export class Session {
  /**
   * What opens the transaction; it travels with the first statement, since a round trip costs more than most
   * statements.
   */
  readonly beginSql: string;
  readonly tenant: TenantScope | string | undefined;
  readonly turnOf: string | undefined;
  #client: PoolClient | undefined;
  #expired = false;
  #isBeginDue = false;
  #closing = '';
  /** True once the server answered anything. */
  answered = false;

  /** @throws TypeError when the scope names what is not a UUID or environment */
  constructor({ tenant, timeoutMs, isolation, turnOf }: SessionOptions) {
    this.tenant = tenant;
    this.turnOf = turnOf;
    const settings = { ...settingsOf(tenant), statement_timeout: String(Math.max(1, Math.ceil(timeoutMs))) };
    this.beginSql = `begin isolation level ${isolation}; select ${Object.entries(settings)
      .map(([name, value]) => `set_config('${name}', '${value}', true)`)
      .join(', ')}`;
  }

  /** The connection that the transaction runs on; ended at once where time is up already. */
  attach(client: PoolClient): void {
    this.#client = client;
    if (this.#expired) void client.end();
  }

  /** The connection is the pool's again. */
  detach(): void {
    this.#client = undefined;
  }

  /** BEGIN goes with the next statement. */
  begin(): void {
    this.#isBeginDue = true;
  }

  /**
   * Keeps a statement for the end of the transaction, where it travels with COMMIT; one that raises keeps it from
   * committing.
   */
  closeWith(statement: string): void {
    this.#closing += `${statement}; `;
  }

  /** Sends a statement through `send`, which is the client's own `query`, behind BEGIN where that is due. */
  async query(send: Send, statement: string, values: readonly unknown[]): Promise<QueryResult> {
    const isFirst = this.#isBeginDue;
    this.#isBeginDue = false;
    const text = COMMIT.test(statement) ? `${this.#closing}${statement}` : statement;
    let result: QueryResult;
    if (!isFirst) result = await send(text, values);
    else if (END_OF_TRANSACTION.test(text)) return NOTHING;
    else if (values.length === 0) result = lastOf(await send(`${this.beginSql}; ${text}`));
    else {
      await send(this.beginSql);
      result = await send(text, values);
    }
    this.answered = true;
    return result;
  }

  /** Time is up: with a statement in flight, end() destroys the socket, and the statement rejects at once. */
  expire(): void {
    this.#expired = true;
    void this.#client?.end();
  }

  /** Throws away a connection that was never given back: Kysely keeps it when BEGIN, COMMIT or ROLLBACK fail. */
  abandon(): void {
    this.#client?.release(true);
  }
}

/** Gives the connection to the session until either side releases it; the second release does nothing. */
export function lend(client: PoolClient, session: Session): void {
  const release = client.release.bind(client);
  const query = client.query.bind(client) as Send;
  let lent = true;
  client.release = (destroy) => {
    if (!lent) return;
    lent = false;
    session.detach();
    Reflect.deleteProperty(client, 'query');
    release(destroy);
  };
  // Kysely asks in this one form.
  client.query = ((text: string, values: readonly unknown[] = []) =>
    session.query(query, text, values)) as typeof client.query;
  session.attach(client);
}

/** node-postgres answers several statements at once with a list. */
function lastOf(results: unknown): QueryResult {
  const own = (results as QueryResult[]).slice(BEGIN_STATEMENTS);
  return own.length === 1 ? own[0]! : (own as unknown as QueryResult);
}
