import type { AsyncLocalStorage } from 'node:async_hooks';
import {
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type Driver,
  type PostgresDialectConfig,
  type TransactionSettings,
} from 'kysely';
import type { Session } from './session.ts';

/** Kysely's PostgreSQL dialect, whose transactions begin as their {@link Session} says. */
export class SessionDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig;
  readonly #sessions: AsyncLocalStorage<Session>;

  constructor(config: PostgresDialectConfig, sessions: AsyncLocalStorage<Session>) {
    super(config);
    this.#config = config;
    this.#sessions = sessions;
  }

  override createDriver(): Driver {
    return new SessionDriver(this.#config, this.#sessions);
  }
}

class SessionDriver extends PostgresDriver {
  readonly #sessions: AsyncLocalStorage<Session>;

  constructor(config: PostgresDialectConfig, sessions: AsyncLocalStorage<Session>) {
    super(config);
    this.#sessions = sessions;
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const session = this.#sessions.getStore();
    if (session === undefined) return super.beginTransaction(connection, settings);
    session.begin();
  }
}
