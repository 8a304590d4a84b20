import { createSecretKey, type KeyObject } from 'node:crypto';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { z } from 'zod';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import { newUuid, uuid } from '../../../platform/identifiers.ts';
import {
  API_KEY_KINDS,
  apiKeyLookup,
  generateApiKey,
  sealApiKey,
  type ApiKeyKind,
  type StoredApiKey,
} from './api-key.ts';
import type { KeyBond } from './key-bond.ts';
import { SCOPES, type Scope } from '../../../schema/principal.ts';

/** What a list of keys may show of one (contract: prefix, last4); 95 bits stay unseen. */
const DISPLAY_PREFIX_LENGTH = 16;

/** A key to make: whom it stands for, and what it may do. What is left out restricts nothing. */
export interface NewApiKey {
  readonly accountId: Uuid;
  readonly agentId: Uuid | null;
  readonly kind: ApiKeyKind;
  /** What made it: never left out, so that nobody forgets whom a key must not outlive. */
  readonly bond: KeyBond;
  /** All ten when absent. */
  readonly scopes?: readonly Scope[];
  readonly keyPairId?: Uuid | null;
  readonly name?: string | null;
  /** Addresses and CIDR ranges; host bits of a range are cleared. */
  readonly allowedIps?: readonly string[] | null;
  /** Of a bound key the end of its own; it ends with its makers at the latest. */
  readonly expiresAt?: Date | null;
  readonly apiVersion?: string | null;
}

/** A fresh key: the only time that it is ever readable. */
export interface IssuedApiKey {
  readonly id: Uuid;
  readonly secret: string;
  readonly kind: ApiKeyKind;
  readonly displayPrefix: string;
  readonly last4: string;
  readonly createdAt: Date;
  /** When it ends by itself, or with its makers as things are; null for never. */
  readonly expiresAt: Date | null;
}

/** The same as it is remembered, sealed, under an idempotency key. */
export const issuedApiKey = z.object({
  id: uuid,
  secret: z.string(),
  kind: z.enum(API_KEY_KINDS),
  displayPrefix: z.string(),
  last4: z.string(),
  createdAt: z.coerce.date(),
  // Effects from before do not tell of it.
  expiresAt: z.coerce.date().nullable().default(null),
});

/** A live key and its twin for the sandbox. */
export interface IssuedKeyPair {
  readonly keyPairId: Uuid;
  readonly live: IssuedApiKey;
  readonly test: IssuedApiKey;
}

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
  readonly #pepper: KeyObject;

  constructor(database: Database, pepper: Buffer) {
    this.#database = database;
    this.#pepper = createSecretKey(pepper);
  }

  /** Creates a key inside the tenant's transaction. */
  async create(em: SqlEntityManager, key: NewApiKey): Promise<IssuedApiKey> {
    const id = newUuid();
    const secret = generateApiKey(key.kind);
    const [displayPrefix, last4] = [secret.slice(0, DISPLAY_PREFIX_LENGTH), secret.slice(-4)];
    const sealed = sealApiKey(this.#pepper, secret);
    const [row] = await em.execute<[{ created_at: string; expires_at: string | null }]>(
      `insert into auth.api_keys (id, account_id, agent_id, kind, display_prefix, last4, lookup, salt, hash, scopes,
        key_pair_id, name, allowed_ips, expires_at, api_version, maker_id, grant_id, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, (select array_agg(s) from jsonb_array_elements_text(?::jsonb) s), ?, ?,
               (select array_agg(network(range::inet)) from jsonb_array_elements_text(?::jsonb) range), ?::timestamptz,
                 ?, ?, ?, auth.clock())
       returning to_jsonb(created_at) #>> '{}' as created_at, to_jsonb(expires_at) #>> '{}' as expires_at`,
      [
        id,
        key.accountId,
        key.agentId,
        key.kind,
        displayPrefix,
        last4,
        sealed.lookup,
        sealed.salt,
        sealed.hash,
        JSON.stringify(key.scopes ?? SCOPES),
        key.keyPairId ?? null,
        key.name ?? null,
        JSON.stringify(key.allowedIps ?? []),
        key.expiresAt?.toISOString() ?? null,
        key.apiVersion ?? null,
        key.bond.makerId,
        key.bond.grantId,
      ],
    );
    const expiresAt = row.expires_at === null ? null : new Date(row.expires_at);
    return { id, secret, kind: key.kind, displayPrefix, last4, createdAt: new Date(row.created_at), expiresAt };
  }

  /** Creates a live key and its test twin, alike in everything else. */
  async createPair(em: SqlEntityManager, pair: Omit<NewApiKey, 'kind' | 'keyPairId'>): Promise<IssuedKeyPair> {
    const keyPairId = newUuid();
    const live = await this.create(em, { ...pair, keyPairId, kind: 'svc_live_sk' });
    const test = await this.create(em, { ...pair, keyPairId, kind: 'svc_test_sk' });
    return { keyPairId, live, test };
  }

  /** {@link create}, for callers that need nothing but the secret. */
  async issue(em: SqlEntityManager, key: NewApiKey): Promise<string> {
    return (await this.create(em, key)).secret;
  }

  /** Every stored key that shares the index value: one, but for a collision of 64-bit lookups. */
  async find(key: string): Promise<readonly FoundApiKey[]> {
    const rows = await this.#database.asNobody((em) =>
      em.execute<KeyRow[]>(`select * from auth.find_api_keys(?)`, [apiKeyLookup(this.#pepper, key)]),
    );
    return rows.map((row) => ({ ...row, accountId: row.account_id, agentId: row.agent_id }));
  }
}
