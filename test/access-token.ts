import { createSecretKey, randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { sealApiKey } from '../services/identity/keys/api-key.ts';
import { newUuid } from '../platform/identifiers.ts';

export interface TokenColumns {
  readonly use?: 'access' | 'refresh';
  readonly proof?: 'secret' | 'delegated';
  readonly environment?: 'live' | 'sandbox';
  readonly apiVersion?: string;
  /** An SQL interval; an hour. */
  readonly lifetime?: string;
}

/** A token for the account of a key, stored as any authorisation server on this database would store it. */
export async function storeAccessToken(
  owner: Client,
  pepper: Buffer,
  accountId: string,
  columns: TokenColumns = {},
): Promise<string> {
  const token = `svc_at_${randomBytes(32).toString('base64url')}`;
  const { lookup, salt, hash } = sealApiKey(createSecretKey(pepper), token);
  const { use = 'access', proof = 'secret', environment = 'live', apiVersion = null, lifetime = '1 hour' } = columns;
  await owner.query(
    `insert into auth.tokens (id, account_id, agent_id, use, proof, family_id, key_id, lookup, salt, hash, scopes,
      environment, api_version, expires_at)
     select $1, account_id, coalesce(agent_id, $3), $4, $5, $1, id, $6, $7, $8, '{attribution:read}', $9, $10,
       auth.clock() + $11::interval
     from auth.api_keys where account_id = $2 order by created_at limit 1`,
    [newUuid(), accountId, newUuid(), use, proof, lookup, salt, hash, environment, apiVersion, lifetime],
  );
  return token;
}
