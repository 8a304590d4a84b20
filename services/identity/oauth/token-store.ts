import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Database, SqlEntityManager } from '../../../platform/postgres/database.ts';
import { newUuid, type Uuid } from '../../../platform/identifiers.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { apiKeyLookup, matchesApiKey, sealApiKey } from '../keys/api-key.ts';
import type { Environment, Proof, Scope } from '../../../schema/principal.ts';
import { generateOauthSecret, oauthSecretKind } from './token.ts';

/** Lifetimes of the contract §8, as PostgreSQL reads intervals. */
const LIFETIMES = { access: '1 hour', refresh: '30 days' } as const;

type TokenUse = keyof typeof LIFETIMES;

/** What a pair of tokens allows, and whom. */
export interface Grant {
  /** Whose data the tokens open. */
  readonly accountId: Uuid;
  /** The client. */
  readonly agentId: Uuid;
  /** All tokens that descend from one authorisation. */
  readonly familyId: Uuid;
  /** The key that was shown for it. */
  readonly keyId: Uuid;
  readonly proof: Proof;
  readonly scopes: readonly Scope[];
  readonly environment: Environment;
}

/** Tokens as they are shown once; stored are their hashes. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresInS: number;
}

/** A token that somebody showed, whatever has become of it. */
export interface FoundToken {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly agentId: Uuid;
  readonly use: TokenUse;
  readonly familyId: Uuid;
  readonly environment: Environment;
}

/**
 * Keeps OAuth tokens in auth.tokens. All writing happens in a transaction of the tenant that the token opens, under
 * the lock of its family: otherwise a family could be revoked while a refresh gives it two more members unseen.
 */
export class TokenStore {
  readonly #database: Database;
  readonly #pepper: KeyObject;

  constructor(database: Database, pepper: Buffer) {
    this.#database = database;
    this.#pepper = createSecretKey(pepper);
  }

  /** The token behind a secret; null for one that nobody was given. */
  async find(secret: string): Promise<FoundToken | null> {
    const kind = oauthSecretKind(secret);
    if (kind !== 'access' && kind !== 'refresh') return null;
    type Row = {
      id: Uuid;
      account_id: Uuid;
      agent_id: Uuid;
      use: TokenUse;
      family_id: Uuid;
      salt: Buffer;
      hash: Buffer;
      environment: Environment;
    };
    const rows = await this.#database.asNobody((em) =>
      em.execute<Row[]>(`select * from auth.find_oauth_tokens(?)`, [apiKeyLookup(this.#pepper, secret)]),
    );
    const row = rows.find((candidate) => matchesApiKey(candidate, secret));
    return row === undefined
      ? null
      : {
          id: row.id,
          accountId: row.account_id,
          agentId: row.agent_id,
          use: row.use,
          familyId: row.family_id,
          environment: row.environment,
        };
  }

  /**
   * Waits until nobody else changes the family, or the keys of the account: those that its tokens made end with it. The
   * locks go with the transaction, and are taken in one order.
   */
  async lockFamily(
    em: SqlEntityManager,
    { accountId, familyId }: Pick<Grant, 'accountId' | 'familyId'>,
  ): Promise<void> {
    await lockAccount(em, accountId);
    await em.execute(`select pg_advisory_xact_lock(hashtextextended('oauth family ' || ?::text, 0))`, [familyId]);
  }

  /**
   * Issues a pair that ends with its key at the latest; null when that key has ended already. A key that ends
   * meanwhile ends the pair, too: admission judges tokens together with their key.
   * @param accessScopes narrower than the grant's where the client asked for less
   * @param parentId the refresh token that was used for it
   */
  async issuePair(
    em: SqlEntityManager,
    grant: Grant,
    accessScopes: readonly Scope[] = grant.scopes,
    parentId: Uuid | null = null,
  ): Promise<TokenPair | null> {
    const [key] = await em.execute<{ ended: boolean }[]>(
      `select revoked_at is not null or coalesce(least(expires_at, grace_ends_at) <= auth.clock(), false) as ended ` +
        `from auth.api_keys where id = ?`,
      [grant.keyId],
    );
    if (key === undefined || key.ended) return null;
    const refresh = await this.#issue(em, 'refresh', grant, grant.scopes, parentId);
    const access = await this.#issue(em, 'access', grant, accessScopes, parentId);
    return { accessToken: access.secret, refreshToken: refresh.secret, expiresInS: access.expiresInS };
  }

  async #issue(
    em: SqlEntityManager,
    use: TokenUse,
    grant: Grant,
    scopes: readonly Scope[],
    parentId: Uuid | null,
  ): Promise<{ readonly secret: string; readonly expiresInS: number }> {
    const secret = generateOauthSecret(use);
    const { lookup, salt, hash } = sealApiKey(this.#pepper, secret);
    const [row] = await em.execute<[{ expires_in_s: number }]>(
      `insert into auth.tokens (id, account_id, agent_id, use, proof, family_id, parent_id, key_id, lookup, salt, hash,
        scopes, environment, api_version, expires_at)
       select ?, ?, ?, ?, ?, ?, ?, key.id, ?, ?, ?, (select coalesce(array_agg(s), '{}')
         from jsonb_array_elements_text(?::jsonb) s), ?, key.api_version,
              least(auth.clock() + ?::interval, key.expires_at, key.grace_ends_at)
       from auth.api_keys key where key.id = ?
       returning ceil(extract(epoch from expires_at - auth.clock()))::int as expires_in_s`,
      [
        newUuid(),
        grant.accountId,
        grant.agentId,
        use,
        grant.proof,
        grant.familyId,
        parentId,
        lookup,
        salt,
        hash,
        JSON.stringify(scopes),
        grant.environment,
        LIFETIMES[use],
        grant.keyId,
      ],
    );
    return { secret, expiresInS: row.expires_in_s };
  }

  /** Uses a refresh token up and tells what it grants; null when it was used, was revoked or has expired. */
  async useRefreshToken(em: SqlEntityManager, id: Uuid): Promise<Grant | null> {
    type Row = {
      account_id: Uuid;
      agent_id: Uuid;
      family_id: Uuid;
      key_id: Uuid;
      proof: Proof;
      scopes: Scope[];
      environment: Environment;
    };
    const [row] = await em.execute<Row[]>(
      `update auth.tokens set used_at = auth.clock()
        where id = ? and use = 'refresh' and used_at is null and revoked_at is null and expires_at > auth.clock()
       returning account_id, agent_id, family_id, key_id, proof, scopes, environment`,
      [id],
    );
    return row === undefined
      ? null
      : {
          accountId: row.account_id,
          agentId: row.agent_id,
          familyId: row.family_id,
          keyId: row.key_id,
          proof: row.proof,
          scopes: row.scopes,
          environment: row.environment,
        };
  }

  /** Whether a refresh token has given its successors. */
  async wasUsed(em: SqlEntityManager, id: Uuid): Promise<boolean> {
    const [row] = await em.execute<{ used: boolean }[]>(
      `select used_at is not null as used from auth.tokens where id = ?`,
      [id],
    );
    return row?.used === true;
  }

  async revoke(em: SqlEntityManager, id: Uuid): Promise<void> {
    await em.execute(`update auth.tokens set revoked_at = auth.clock() where id = ? and revoked_at is null`, [id]);
  }

  /**
   * Revokes every token of a family, used ones included, and so the keys that they made; to be called under the
   * family's lock.
   */
  async revokeFamily(em: SqlEntityManager, familyId: Uuid): Promise<void> {
    await em.execute(`update auth.tokens set revoked_at = auth.clock() where family_id = ? and revoked_at is null`, [
      familyId,
    ]);
  }
}
