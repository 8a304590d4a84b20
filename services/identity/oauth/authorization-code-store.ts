import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Database, SqlEntityManager } from '../../../platform/postgres/database.ts';
import { newUuid, type Uuid } from '../../../platform/identifiers.ts';
import { apiKeyLookup, matchesApiKey, sealApiKey } from '../keys/api-key.ts';
import type { Environment, Scope } from '../../../schema/principal.ts';
import type { Grant } from './token-store.ts';
import { generateOauthSecret, oauthSecretKind } from './token.ts';

/** What a resource owner allowed a client, bound to where the client asked for it and how it will prove that. */
export interface Consent {
  readonly accountId: Uuid;
  readonly agentId: Uuid;
  readonly keyId: Uuid;
  readonly redirectUri: string;
  /** Base64url of the SHA-256 of the verifier (RFC 7636). */
  readonly codeChallenge: string;
  readonly scopes: readonly Scope[];
  readonly environment: Environment;
}

/** A code that somebody showed, whatever has become of it. */
export interface FoundCode {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly agentId: Uuid;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly environment: Environment;
  readonly wasUsed: boolean;
}

/**
 * Keeps authorization codes: 60 seconds, once. Used ones are kept for as long as what they gave, to know them again.
 */
export class AuthorizationCodeStore {
  readonly #database: Database;
  readonly #pepper: KeyObject;

  constructor(database: Database, pepper: Buffer) {
    this.#database = database;
    this.#pepper = createSecretKey(pepper);
  }

  /** Issues a code in a transaction of the resource owner's account. */
  async issue(em: SqlEntityManager, consent: Consent): Promise<string> {
    const code = generateOauthSecret('code');
    const { lookup, salt, hash } = sealApiKey(this.#pepper, code);
    await em.execute(
      `insert into auth.authorization_codes (id, account_id, agent_id, key_id, family_id, lookup, salt, hash,
        redirect_uri, code_challenge, scopes, environment, expires_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (select array_agg(s) from jsonb_array_elements_text(?::jsonb) s), ?,
         auth.clock() + interval '60 seconds')`,
      [
        newUuid(),
        consent.accountId,
        consent.agentId,
        consent.keyId,
        newUuid(),
        lookup,
        salt,
        hash,
        consent.redirectUri,
        consent.codeChallenge,
        JSON.stringify(consent.scopes),
        consent.environment,
      ],
    );
    return code;
  }

  /** The code behind a secret; null for one that nobody was given. */
  async find(secret: string): Promise<FoundCode | null> {
    if (oauthSecretKind(secret) !== 'code') return null;
    type Row = {
      id: Uuid;
      account_id: Uuid;
      agent_id: Uuid;
      salt: Buffer;
      hash: Buffer;
      redirect_uri: string;
      code_challenge: string;
      environment: Environment;
      used: boolean;
    };
    const rows = await this.#database.asNobody((em) =>
      em.execute<Row[]>(`select * from auth.find_authorization_codes(?)`, [apiKeyLookup(this.#pepper, secret)]),
    );
    const row = rows.find((candidate) => matchesApiKey(candidate, secret));
    return row === undefined
      ? null
      : {
          id: row.id,
          accountId: row.account_id,
          agentId: row.agent_id,
          redirectUri: row.redirect_uri,
          codeChallenge: row.code_challenge,
          environment: row.environment,
          wasUsed: row.used,
        };
  }

  /** Uses a code up and tells what it grants; null when it was used or has expired. */
  async use(em: SqlEntityManager, id: Uuid): Promise<Grant | null> {
    type Row = {
      account_id: Uuid;
      agent_id: Uuid;
      family_id: Uuid;
      key_id: Uuid;
      scopes: Scope[];
      environment: Environment;
    };
    const [row] = await em.execute<Row[]>(
      `update auth.authorization_codes set used_at = auth.clock()
        where id = ? and used_at is null and expires_at > auth.clock()
       returning account_id, agent_id, family_id, key_id, scopes, environment`,
      [id],
    );
    return row === undefined
      ? null
      : {
          accountId: row.account_id,
          agentId: row.agent_id,
          familyId: row.family_id,
          keyId: row.key_id,
          proof: 'delegated',
          scopes: row.scopes,
          environment: row.environment,
        };
  }

  /** The family of what a used code gave; null for a code that gave nothing. */
  async familyOfUsed(em: SqlEntityManager, id: Uuid): Promise<Uuid | null> {
    const [row] = await em.execute<{ family_id: Uuid }[]>(
      `select family_id from auth.authorization_codes where id = ? and used_at is not null`,
      [id],
    );
    return row?.family_id ?? null;
  }
}
