import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import pg from 'pg';
import { createAccount, type NewAccount } from '../../../../services/identity/accounts/account-store.ts';
import type { Arrival } from '../../../../services/identity/admission/admission.ts';
import type { ApiKeyKind } from '../../../../services/identity/keys/api-key.ts';
import { UNBOUND } from '../../../../services/identity/keys/key-bond.ts';
import { KeyStore } from '../../../../services/identity/keys/key-store.ts';
import { authOwner } from '../../../../services/identity/migrations.ts';
import { PostgresAdmission } from '../../../../services/identity/admission/postgres-admission.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { standardRateLimits } from '../../../../services/identity/limits/rate-limits.ts';
import { eventsOwner } from '../../../../services/event-migrations.ts';
import { newUuid, type Uuid } from '../../../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { createLogger } from '../../../../platform/telemetry/logs.ts';
import { storeAccessToken, type TokenColumns } from '../../../access-token.ts';
import { FrozenClock } from '../../../frozen-clock.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../../platform.ts';

/** A call from an address, with a key or token, or without any. */
export function arrival(key: string | undefined, more: Partial<Arrival> & { readonly address?: string } = {}): Arrival {
  const { address = '203.0.113.7', ...rest } = more;
  return {
    requestId: 'req_test',
    origin: { clientAddress: address, userAgent: 'test' },
    authorization: key === undefined ? undefined : `Bearer ${key}`,
    onSandboxHost: false,
    ...rest,
  };
}

export interface Issued {
  readonly key: string;
  readonly accountId: Uuid;
}

interface AuditEntry {
  readonly type: string;
  readonly severity: string;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly details: Readonly<Record<string, unknown>>;
}

/** A database of accounts and keys, with an admission before it and its owner's way in. */
export class KeyedAccounts {
  readonly database: Database;
  readonly admission: PostgresAdmission;
  readonly owner: pg.Client;
  readonly clock: FrozenClock;
  readonly #testDatabase: TestDatabase;
  readonly #pubSub: PubSub;
  readonly #pepper = randomBytes(32);
  readonly #keys: KeyStore;
  readonly #logs: string[];

  private constructor(testDatabase: TestDatabase, database: Database, pubSub: PubSub, logs: string[]) {
    this.#testDatabase = testDatabase;
    this.#pubSub = pubSub;
    this.#logs = logs;
    this.#keys = new KeyStore(database, this.#pepper);
    this.database = database;
    this.admission = this.admissionWith();
    this.owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
    this.clock = new FrozenClock(testDatabase.ownerUrl);
  }

  static async open(): Promise<KeyedAccounts> {
    const logs: string[] = [];
    const logger = loggerInto(logs);
    const testDatabase = await createTestDatabase([pubSubOwner, authOwner, eventsOwner]);
    const url = testDatabase.applicationUrl;
    const database = await openDatabase({
      url,
      entities: [],
      applicationName: 'test',
      poolMax: 20,
      logger,
      timeoutMs: PATIENCE_MS,
    });
    const pubSub = await createPubSub({ url, database, logger });
    const accounts = new KeyedAccounts(testDatabase, database, pubSub, logs);
    await accounts.owner.connect();
    // No hour ends under a test.
    await accounts.clock.stop();
    return accounts;
  }

  async close(): Promise<void> {
    await this.owner.end();
    await this.#pubSub.close();
    await this.database.close();
    await this.#testDatabase.drop();
  }

  log(): string {
    return this.#logs.join('');
  }

  /** Another admission beside it, as another process would have, or one with another pepper. */
  admissionWith({ keyPepper = this.#pepper, database = this.database } = {}): PostgresAdmission {
    return new PostgresAdmission({
      database,
      pubSub: this.#pubSub,
      keyPepper,
      rateLimits: standardRateLimits('three'),
      logger: loggerInto(this.#logs),
    });
  }

  /** A pool of its own on the same database. */
  secondPool(): Promise<Database> {
    return openDatabase({
      url: this.#testDatabase.applicationUrl,
      entities: [],
      applicationName: 'elsewhere',
      poolMax: 2,
      logger: loggerInto(this.#logs),
    });
  }

  async issueKey({
    scopes,
    kind = 'svc_live_sk',
    ...account
  }: {
    scopes?: Principal['scopes'];
    kind?: ApiKeyKind;
    plan?: NewAccount['plan'] & string;
    tier?: NewAccount['tier'] & string;
  } = {}): Promise<Issued> {
    const accountId = newUuid();
    const key = await this.database.asTenant(accountId, async (em) => {
      await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null, ...account });
      return this.#keys.issue(em, {
        accountId,
        agentId: kind === 'svc_agent_sk' ? newUuid() : null,
        kind,
        bond: UNBOUND,
        ...(scopes === undefined ? {} : { scopes }),
      });
    });
    return { key, accountId };
  }

  issueToken({ accountId }: Issued, columns: TokenColumns = {}): Promise<string> {
    return storeAccessToken(this.owner, this.#pepper, accountId, columns);
  }

  setKey({ accountId }: Issued, change: string): Promise<unknown> {
    return this.owner.query(`update auth.api_keys set ${change} where account_id = $1`, [accountId]);
  }

  async auditOf(accountId: string | null): Promise<readonly AuditEntry[]> {
    const { rows } = await this.owner.query<{ body: AuditEntry }>(
      'select body from events.told_audit_events where tenant_id is not distinct from $1 order by event_id',
      [accountId],
    );
    return rows.map(({ body }) => body);
  }
}

function loggerInto(lines: string[]) {
  return createLogger({
    level: 'warn',
    format: 'json',
    destination: new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) }),
  });
}
