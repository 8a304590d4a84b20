import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { ProblemError } from '../../../schema/problems.ts';
import { recordAuditEvent, type AuditActor, type AuditEvent } from '../../audit/audit-event.ts';
import { exactlyOnce, type Settle } from '../../idempotency/exactly-once.ts';
import { newUuid, publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { Database, SqlEntityManager } from '../../../platform/postgres/database.ts';
import { endedWith } from '../keys/key-bond.ts';
import { SCOPES, type RequestContext } from '../../../schema/principal.ts';
import type { AuthorizationCodeStore, FoundCode } from './authorization-code-store.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { agentOfClientId } from './oauth-client.ts';
import { grantedScopes } from './scope-list.ts';
import type { FoundToken, Grant, TokenStore } from './token-store.ts';

/** RFC 6749 §4.1, §4.4 and §6. */
export const GRANT_TYPES = ['client_credentials', 'authorization_code', 'refresh_token'] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

/** A token request (RFC 6749 §4.1.3, §4.4.2, §6) with its members' forms checked. */
export interface TokenRequest {
  readonly grantType: GrantType;
  /** Public id of an agent. */
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Separated by spaces. */
  readonly scope?: string;
  readonly code?: string;
  readonly redirectUri?: string;
  readonly codeVerifier?: string;
  readonly refreshToken?: string;
}

/** A token response (RFC 6749 §5.1), also as a retry tells of it again. */
const tokenResponse = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresInS: z.int(),
  scopes: z.array(z.enum(SCOPES)).readonly(),
});
/** RFC 6749 §5.1. */
export type TokenResponse = z.output<typeof tokenResponse>;

/** RFC 6749 §3.2 and, for revocation, RFC 7009. */
export interface TokenEndpoint {
  /**
   * Gives tokens for a grant.
   * @throws ProblemError `invalid_request` (a member is missing), `invalid_client`, `invalid_scope`, `invalid_grant`:
   * 400
   *   for a code, 401 for a refresh token
   */
  exchange(request: TokenRequest, context: RequestContext): Promise<TokenResponse>;
  /**
   * Ends a token at once (RFC 7009): a refresh token with every token of its family, an access token alone. Whoever has
   * the token may end it; one that nobody was given is not an error. Keys that tokens of the family made end with it.
   */
  revoke(token: string, context: RequestContext): Promise<void>;
}

export interface TokenEndpointServices {
  readonly database: Database;
  readonly clients: ClientAuthentication;
  readonly codes: AuthorizationCodeStore;
  readonly tokens: TokenStore;
}

/**
 * Issues, refreshes and revokes OAuth tokens. Whatever must be remembered of a refusal is committed before it is told.
 */
export class OauthTokenEndpoint implements TokenEndpoint {
  readonly #services: TokenEndpointServices;

  constructor(services: TokenEndpointServices) {
    this.#services = services;
  }

  exchange(request: TokenRequest, context: RequestContext): Promise<TokenResponse> {
    return exactlyOnce(this.#services.database, context, {
      effect: tokenResponse,
      needsRoom: false,
      act: (settle) => this.#issue(request, context, settle),
      recall: async (given) => given,
    });
  }

  #issue(request: TokenRequest, context: RequestContext, settle: Settle<TokenResponse>): Promise<TokenResponse> {
    switch (request.grantType) {
      case 'client_credentials':
        return this.#clientCredentials(request, context, settle);
      case 'authorization_code':
        return this.#authorizationCode(request, context, settle);
      case 'refresh_token':
        return this.#refreshToken(request, context, settle);
    }
  }

  async #clientCredentials(
    request: TokenRequest,
    context: RequestContext,
    settle: Settle<TokenResponse>,
  ): Promise<TokenResponse> {
    const { database, clients, tokens } = this.#services;
    const principal = await clients.authenticate(
      request.clientId,
      needed(request.clientSecret, 'client_secret'),
      context,
    );
    const scopes = grantedScopes(request.scope, principal.scopes);
    const grant: Grant = {
      accountId: principal.accountId as Uuid,
      agentId: principal.agentId as Uuid,
      familyId: newUuid(),
      keyId: principal.credentialId as Uuid,
      proof: 'secret',
      scopes,
      environment: principal.environment,
    };
    const given = await database.asTenant(grant.accountId, async (em) => {
      const pair = await tokens.issuePair(em, grant);
      if (pair === null) return null;
      await recordAuditEvent(em, context, told('auth.token_issued', grant, { grant_type: request.grantType, scopes }));
      await settle(em, { ...pair, scopes });
      return { ...pair, scopes };
    });
    if (given === null)
      throw new ProblemError('invalid_client', 'The key was revoked or has expired.', { param: '/client_secret' });
    return given;
  }

  async #authorizationCode(
    request: TokenRequest,
    context: RequestContext,
    settle: Settle<TokenResponse>,
  ): Promise<TokenResponse> {
    const { database, clients, codes, tokens } = this.#services;
    const [secret, redirectUri, verifier] = [
      needed(request.code, 'code'),
      needed(request.redirectUri, 'redirect_uri'),
      needed(request.codeVerifier, 'code_verifier'),
    ];
    const client = await clients.find(request.clientId);
    if (!client.isPublic || request.clientSecret !== undefined)
      await clients.authenticate(request.clientId, needed(request.clientSecret, 'client_secret'), context);
    const code = await codes.find(secret);
    if (code === null || code.agentId !== client.agentId) throw refusedCode('The code is unknown.');
    // A code that comes again has leaked, whatever else is wrong with the request.
    const fault = code.wasUsed ? null : faultOfClient(code, redirectUri, verifier);
    if (fault !== null) await this.#spend(code, context, fault);

    const outcome = await database.asTenant(code.accountId, async (em) => {
      const grant = await codes.use(em, code.id);
      if (grant === null) return (await this.#endReplayed(em, code, context)) ? 'used' : 'expired';
      const scopes = grantedScopes(request.scope, grant.scopes);
      const pair = await tokens.issuePair(em, grant, scopes);
      if (pair === null) return 'expired';
      await recordAuditEvent(em, context, told('auth.token_issued', grant, { grant_type: request.grantType, scopes }));
      await settle(em, { ...pair, scopes });
      return { ...pair, scopes };
    });
    if (outcome === 'used') throw refusedCode('The code was used before. The tokens that it gave are revoked.');
    if (outcome === 'expired') throw refusedCode('The code, or the key behind it, has expired.');
    return outcome;
  }

  /**
   * Uses up a code that came from somewhere else than it was sent to: a verifier can be tried once (RFC 7636 §4.6,
   * OAuth 2.1 §4.1.3).
   * @throws ProblemError `invalid_grant`
   */
  async #spend(code: FoundCode, context: RequestContext, { reason, message }: ClientFault): Promise<never> {
    const { database, codes } = this.#services;
    await database.asTenant(code.accountId, async (em) => {
      if ((await codes.use(em, code.id)) !== null) await recordAuditEvent(em, context, failed(code, reason));
    });
    throw refusedCode(`${message} The code is used up: authorise again.`);
  }

  /** RFC 6749 §4.1.2: a code that is used twice revokes what it gave. False when it has not been used at all. */
  async #endReplayed(em: SqlEntityManager, code: FoundCode, context: RequestContext): Promise<boolean> {
    const { codes, tokens } = this.#services;
    const familyId = await codes.familyOfUsed(em, code.id);
    if (familyId === null) return false;
    await tokens.lockFamily(em, { ...code, familyId });
    await tokens.revokeFamily(em, familyId);
    await recordAuditEvent(em, context, failed(code, 'authorization_code_reused'));
    return true;
  }

  async #refreshToken(
    request: TokenRequest,
    context: RequestContext,
    settle: Settle<TokenResponse>,
  ): Promise<TokenResponse> {
    const { database, clients, tokens } = this.#services;
    const secret = needed(request.refreshToken, 'refresh_token');
    // The contract asks for no secret here; one that is sent has to be right.
    if (request.clientSecret !== undefined) await clients.authenticate(request.clientId, request.clientSecret, context);
    const token = await tokens.find(secret);
    if (token === null || token.use !== 'refresh' || token.agentId !== agentOfClientId(request.clientId))
      throw refusedRefresh('The refresh token is unknown.');

    const outcome = await database.asTenant(token.accountId, async (em) => {
      await tokens.lockFamily(em, token);
      const grant = await tokens.useRefreshToken(em, token.id);
      if (grant === null) return (await this.#endReused(em, token, context)) ? 'used' : 'expired';
      // Behind the use, so that a token that comes again is known whatever else is asked; refused, it stays unused.
      const scopes = grantedScopes(request.scope, grant.scopes);
      const pair = await tokens.issuePair(em, grant, scopes, token.id);
      if (pair === null) return 'expired';
      await recordAuditEvent(em, context, told('auth.token_refreshed', grant, { scopes }));
      await settle(em, { ...pair, scopes });
      return { ...pair, scopes };
    });
    if (outcome === 'used')
      throw refusedRefresh(
        'The refresh token was used before. Every token that descends from the same authorisation is revoked; ' +
          'authorise again.',
      );
    if (outcome === 'expired') throw refusedRefresh('The refresh token was revoked or has expired. Authorise again.');
    return outcome;
  }

  /**
   * RFC 9700 §4.14.2: one of two who show the same refresh token is a thief, so that both lose all. False when it was
   * not used.
   */
  async #endReused(em: SqlEntityManager, token: FoundToken, context: RequestContext): Promise<boolean> {
    const { tokens } = this.#services;
    if (!(await tokens.wasUsed(em, token.id))) return false;
    await tokens.revokeFamily(em, token.familyId);
    await recordAuditEvent(em, context, { ...failed(token, 'refresh_token_reused'), severity: 'critical' });
    await tellEndedKeys(em, context, token, { type: 'anonymous', id: null });
    return true;
  }

  async revoke(secret: string, context: RequestContext): Promise<void> {
    const { database, tokens } = this.#services;
    const token = await tokens.find(secret);
    if (token === null) return;
    await database.asTenant(token.accountId, async (em) => {
      await tokens.lockFamily(em, token);
      if (token.use === 'access') return tokens.revoke(em, token.id);
      await tokens.revokeFamily(em, token.familyId);
      await tellEndedKeys(em, context, token, { type: 'agent', id: publicId('agent', token.agentId) });
    });
  }
}

interface ClientFault {
  /** For the audit log. */
  readonly reason: string;
  readonly message: string;
}

/** Null where the redirect URI is the one that was asked for, and the verifier fits the challenge (RFC 7636 §4.6). */
function faultOfClient(code: FoundCode, redirectUri: string, verifier: string): ClientFault | null {
  if (code.redirectUri !== redirectUri)
    return { reason: 'wrong_redirect_uri', message: 'redirect_uri is not the one that the code was sent to.' };
  const challenge = createHash('sha256').update(verifier).digest();
  return timingSafeEqual(challenge, Buffer.from(code.codeChallenge, 'base64url'))
    ? null
    : { reason: 'wrong_code_verifier', message: 'code_verifier does not fit the code_challenge.' };
}

function needed(value: string | undefined, name: string): string {
  if (value === undefined)
    throw new ProblemError('invalid_request', `${name}: is required for this grant_type`, {
      code: 'required',
      param: `/${name}`,
    });
  return value;
}

function refusedCode(message: string): ProblemError {
  return new ProblemError('invalid_grant', message, { param: '/code' });
}

function refusedRefresh(message: string): ProblemError {
  return new ProblemError('invalid_grant', message, { param: '/refresh_token', status: 401 });
}

function told(
  type: 'auth.token_issued' | 'auth.token_refreshed',
  grant: Grant,
  details: AuditEvent['details'],
): AuditEvent {
  const agent = publicId('agent', grant.agentId);
  return {
    accountId: grant.accountId,
    type,
    actor: { type: 'agent', id: agent },
    target: { type: 'agent', id: agent },
    outcome: 'success',
    environment: grant.environment,
    details: { ...details, proof: grant.proof },
  };
}

/** One entry for all keys that ended with a family just now, where there were any. */
async function tellEndedKeys(
  em: SqlEntityManager,
  context: RequestContext,
  token: FoundToken,
  actor: AuditActor,
): Promise<void> {
  const { count, ids } = await endedWith(em);
  if (count === 0) return;
  await recordAuditEvent(em, context, {
    accountId: token.accountId,
    type: 'agent.key_revoked',
    actor,
    target: { type: 'agent', id: publicId('agent', token.agentId) },
    outcome: 'success',
    environment: token.environment,
    details: { reason: 'grant_ended', keys: count, key_ids: ids },
  });
}

/** The tenant whose tokens were at stake hears of it. */
function failed(what: FoundCode | FoundToken, reason: string): AuditEvent {
  const agent = publicId('agent', what.agentId);
  return {
    accountId: what.accountId,
    type: 'auth.failed',
    actor: { type: 'anonymous', id: null },
    target: { type: 'agent', id: agent },
    outcome: 'failure',
    environment: what.environment,
    details: { reason },
  };
}
