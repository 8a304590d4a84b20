import { ProblemError } from '../../schema/problems.ts';
import type { Database } from '../postgres/database.ts';
import type { Admission } from './admission.ts';
import { apiKeyKind, matchesApiKey } from './api-key.ts';
import type { KeyStore } from './key-store.ts';
import type { Principal } from './principal.ts';

const BEARER_PATTERN = /^Bearer +(\S+)$/i;
const NONCE_PATTERN = /^[A-Za-z0-9_-]{8,128}$/;

/** Admission against the keys and nonces in PostgreSQL: exact across processes, immediate on revocation. */
export class PostgresAdmission implements Admission {
  readonly #database: Database;
  readonly #keys: KeyStore;

  constructor(database: Database, keys: KeyStore) {
    this.#database = database;
    this.#keys = keys;
  }

  async authenticate(authorization: string | undefined): Promise<Principal> {
    if (authorization === undefined) throw unknownKey('Send the header Authorization: Bearer <API key>. POST /v1/agents/register gives you a key.');
    const key = BEARER_PATTERN.exec(authorization)?.[1];
    if (key === undefined) throw unknownKey('The Authorization header must read: Bearer <API key>.');
    const kind = apiKeyKind(key);
    if (kind === undefined) throw unknownKey('The key does not have the form svc_{agent|live|test}_sk_ and 24 letters or digits.');

    const candidates = await this.#keys.find(key);
    const found = candidates.find((candidate) => matchesApiKey({ ...candidate, lookup: Buffer.alloc(0) }, key));
    if (found === undefined) {
      // Absence must cost what a mismatch costs.
      if (candidates.length === 0) matchesApiKey(undefined, key);
      throw unknownKey('The key is unknown.');
    }
    if (found.ended) throw new ProblemError('expired_api_key', 'The key was revoked or has expired. Use another key, or register again.', { param: 'header:Authorization' });
    return {
      kind: found.agentId === null ? 'account' : 'agent',
      accountId: found.accountId,
      agentId: found.agentId,
      credentialId: found.id,
      scopes: found.scopes,
      environment: kind === 'svc_test_sk' ? 'sandbox' : 'live',
      proof: 'secret',
      workspace: null,
    };
  }

  async consumeNonce(principal: Principal | null, clientAddress: string, nonce: string | undefined): Promise<void> {
    const param = { param: 'header:X-Nonce' };
    if (nonce === undefined || nonce === '') throw new ProblemError('missing_nonce', 'A request that changes state needs the header X-Nonce: a fresh UUID for every request, retries included.', param);
    if (!NONCE_PATTERN.test(nonce)) throw new ProblemError('invalid_request', 'X-Nonce must be 8 to 128 letters, digits, - or _; a UUID will do.', param);
    const scope = principal === null ? `address:${clientAddress}` : `credential:${principal.credentialId}`;
    const [row] = await this.#database.asNobody((em) => em.execute<[{ fresh: boolean }]>(`select auth.consume_nonce(?, ?) as fresh`, [scope, nonce]));
    if (!row.fresh) throw new ProblemError('duplicate_nonce', 'This nonce was used in the last 24 hours. Send a new X-Nonce with every request.', param);
  }
}

function unknownKey(message: string): ProblemError {
  return new ProblemError('invalid_api_key', message, { param: 'header:Authorization' });
}
