import { ProblemError } from '../../../schema/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Admission, Arrival } from '../admission/admission.ts';
import { apiKeyKind } from '../keys/api-key.ts';
import type { Scope } from '../../../schema/principal.ts';
import type { AuthorizationCodeStore } from './authorization-code-store.ts';
import { errorDescription } from './error-description.ts';
import { isResource, issuerOf } from './issuer.ts';
import { agentOfClientId, type FindOauthClient, type OauthClient } from './oauth-client.ts';
import { isRegisteredRedirectUri, redirectWith } from './redirect-uri.ts';
import { parseScopes } from './scope-list.ts';

/** A request that a resource owner can be asked about. */
export interface AuthorizationRequest {
  readonly client: OauthClient;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly scopes: readonly Scope[];
  readonly codeChallenge: string;
}

/**
 * What an authorization request comes to. Without a client and an address of its own, nobody may be sent anywhere: the
 * fault is shown to whoever looks at the page. Any other fault is told to the client (RFC 6749 §4.1.2.1).
 */
export type Examination =
  | { readonly outcome: 'refused'; readonly message: string }
  | { readonly outcome: 'redirected'; readonly location: string }
  | { readonly outcome: 'asked'; readonly request: AuthorizationRequest };

/** RFC 6749 §3.1: asks the owner of the data whether a client may act for them. */
export interface AuthorizationEndpoint {
  /** Judges the query of an authorization request. */
  examine(query: URLSearchParams): Promise<Examination>;
  /**
   * Grants the client what it asked for, as far as the resource owner's key reaches.
   * @returns where to send the resource owner, with a code
   * @throws ProblemError about the key, to be shown on the page: unknown, expired, an agent's, without any of the
   * scopes; RateLimitError
   */
  approve(request: AuthorizationRequest, key: string, arrival: Omit<Arrival, 'authorization'>): Promise<string>;
  /** Where to send a resource owner who said no. */
  deny(request: AuthorizationRequest): string;
}

export interface AuthorizationEndpointServices {
  readonly database: Database;
  readonly admission: Admission;
  readonly findClient: FindOauthClient;
  readonly codes: AuthorizationCodeStore;
  /** Ends in `/v1`; what clients see. */
  readonly publicBaseUrl: string;
}

/** RFC 7636 §4.2: base64url of 32 bytes. Its last character carries four bits. */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'resource',
];

/** Asks resource owners on behalf of clients: the authorization_code grant with PKCE, S256 and nothing less. */
export class OauthAuthorizationEndpoint implements AuthorizationEndpoint {
  readonly #services: AuthorizationEndpointServices;

  constructor(services: AuthorizationEndpointServices) {
    this.#services = services;
  }

  async examine(query: URLSearchParams): Promise<Examination> {
    const clientId = only(query, 'client_id');
    const agentId = clientId === undefined ? undefined : agentOfClientId(clientId);
    const client = agentId === undefined ? null : await this.#services.findClient(agentId);
    if (client === null)
      return {
        outcome: 'refused',
        message: 'No application is registered under this client_id. Ask whoever sent you here for a new link.',
      };
    const redirectUri = only(query, 'redirect_uri');
    if (redirectUri === undefined || !isRegisteredRedirectUri(client.redirectUris, redirectUri)) {
      return {
        outcome: 'refused',
        message:
          `${client.name} did not register the address that it wants the answer sent to (redirect_uri). ` +
          `Nothing was sent there.`,
      };
    }
    const state = only(query, 'state');
    try {
      return { outcome: 'asked', request: { client, redirectUri, state, ...this.#asked(query) } };
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error;
      return {
        outcome: 'redirected',
        location: this.#redirect(redirectUri, {
          error: error.code,
          error_description: errorDescription(error.message),
          state,
        }),
      };
    }
  }

  /** @throws AuthorizationError */
  #asked(query: URLSearchParams): { readonly scopes: readonly Scope[]; readonly codeChallenge: string } {
    for (const name of PARAMETERS)
      if (query.getAll(name).length > 1) throw new AuthorizationError('invalid_request', `${name} may be given once`);
    const responseType = only(query, 'response_type');
    if (responseType === undefined)
      throw new AuthorizationError('invalid_request', 'response_type is missing: send code');
    if (responseType !== 'code')
      throw new AuthorizationError('unsupported_response_type', 'response_type has to be code');
    if ((only(query, 'response_mode') ?? 'query') !== 'query')
      throw new AuthorizationError('invalid_request', 'response_mode has to be query');
    const codeChallenge = only(query, 'code_challenge');
    if (codeChallenge === undefined)
      throw new AuthorizationError('invalid_request', 'code_challenge is missing: PKCE (RFC 7636) is required');
    if (only(query, 'code_challenge_method') !== 'S256')
      throw new AuthorizationError('invalid_request', 'code_challenge_method has to be S256');
    if (!S256_CHALLENGE.test(codeChallenge))
      throw new AuthorizationError(
        'invalid_request',
        'code_challenge has to be the SHA-256 of the verifier in base64url',
      );
    const resource = only(query, 'resource');
    if (resource !== undefined && !isResource(resource, this.#services.publicBaseUrl))
      throw new AuthorizationError('invalid_target', 'resource is not an address of this service');
    try {
      return { scopes: parseScopes(only(query, 'scope')), codeChallenge };
    } catch (error) {
      throw error instanceof ProblemError ? new AuthorizationError('invalid_scope', error.message) : error;
    }
  }

  async approve(request: AuthorizationRequest, key: string, arrival: Omit<Arrival, 'authorization'>): Promise<string> {
    const { database, admission, codes } = this.#services;
    if (apiKeyKind(key) === 'svc_agent_sk')
      throw new ProblemError(
        'invalid_api_key',
        'This is the key of an agent. Use a secret key of your account: svc_live_sk_… or svc_test_sk_….',
      );
    // A token is nobody's to hand on: what it was given for is less, and ends sooner.
    if (apiKeyKind(key) === undefined)
      throw new ProblemError('invalid_api_key', 'This is no secret key.', { param: '/key' });
    const { principal: owner } = await admission.admit({ ...arrival, authorization: `Bearer ${key}` });
    const scopes = request.scopes.filter((scope) => owner.scopes.includes(scope));
    if (scopes.length === 0)
      throw new ProblemError(
        'insufficient_permissions',
        'This key has none of the permissions that are asked for. Use another key.',
      );
    const consent = {
      accountId: owner.accountId as Uuid,
      agentId: request.client.agentId,
      keyId: owner.credentialId as Uuid,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge,
      scopes,
      environment: owner.environment,
    };
    const code = await database.asTenant(owner.accountId, (em) => codes.issue(em, consent));
    return this.#redirect(request.redirectUri, { code, state: request.state });
  }

  deny({ redirectUri, state }: AuthorizationRequest): string {
    return this.#redirect(redirectUri, {
      error: 'access_denied',
      error_description: 'The resource owner said no',
      state,
    });
  }

  /** RFC 9207: the answer says who gave it. */
  #redirect(redirectUri: string, parameters: Readonly<Record<string, string | undefined>>): string {
    return redirectWith(redirectUri, { ...parameters, iss: issuerOf(this.#services.publicBaseUrl) });
  }
}

/** What the client is told; codes of RFC 6749 §4.1.2.1 and RFC 8707 §2. */
class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError';
  readonly code: 'invalid_request' | 'unsupported_response_type' | 'invalid_scope' | 'invalid_target';

  constructor(code: AuthorizationError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A parameter that is there once; an empty one counts as left out (RFC 6749 §3.1). */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}
