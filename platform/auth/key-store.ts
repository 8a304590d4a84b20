import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import type { Uuid } from '../identifiers.ts';
import { newUuid } from '../identifiers.ts';
import { apiKeyLookup, generateApiKey, sealApiKey, type ApiKeyKind, type StoredApiKey } from './api-key.ts';
import { SCOPES, type Scope } from './principal.ts';

/** What a list of keys may show of one (contract: prefix, last4); 95 bits stay unseen. */
const DISPLAY_PREFIX_LENGTH = 16;

/** A key as authentication needs it; `ended` is true when it was revoked or has expired by the database's clock. */
export interface FoundApiKey extends Omit<StoredApiKey, 'lookup'> {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly agentId: Uuid | null;
  readonly kind: ApiKeyKind;
  readonly scopes: readonly Scope[];
  readonly ended: boolean;
}

interface KeyRow {
  id: Uuid;
  account_id: Uuid;
  agent_id: Uuid | null;
  kind: ApiKeyKind;
  salt: Buffer;
  hash: Buffer;
  scopes: Scope[];
  ended: boolean;
}

/** Keeps API keys. Writing needs the caller's transaction, so that a key never exists without its agent. */
export class KeyStore {
  readonly #database: Database;
  readonly #pepper: Buffer;

  constructor(database: Database, pepper: Buffer) {
    this.#database = database;
    this.#pepper = pepper;
  }

  /** Creates a key inside the tenant's transaction and returns it: the only time it is ever readable. */
  async issue(em: SqlEntityManager, key: { accountId: Uuid; agentId: Uuid | null; kind: ApiKeyKind; scopes?: readonly Scope[] }): Promise<string> {
    const secret = generateApiKey(key.kind);
    const sealed = sealApiKey(this.#pepper, secret);
    await em.execute(
      `insert into auth.api_keys (id, account_id, agent_id, kind, display_prefix, last4, lookup, salt, hash, scopes)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, (select array_agg(s) from jsonb_array_elements_text(?::jsonb) s))`,
      [newUuid(), key.accountId, key.agentId, key.kind, secret.slice(0, DISPLAY_PREFIX_LENGTH), secret.slice(-4), sealed.lookup, sealed.salt, sealed.hash, JSON.stringify(key.scopes ?? SCOPES)],
    );
    return secret;
  }

  /** Every stored key that shares the index value: one, but for a collision of 64-bit lookups. */
  async find(key: string): Promise<readonly FoundApiKey[]> {
    const rows = await this.#database.asNobody((em) => em.execute<KeyRow[]>(`select * from auth.find_api_keys(?)`, [apiKeyLookup(this.#pepper, key)]));
    return rows.map((row) => ({ ...row, accountId: row.account_id, agentId: row.agent_id }));
  }
}
