import { z } from 'zod';
import { CLIENT_ID_PATTERN } from '../../services/identity/oauth/oauth-client.ts';
import { GRANT_TYPES, type GrantType } from '../../services/identity/oauth/token-endpoint.ts';
import { SCOPES } from '../../schema/principal.ts';
import { given, inOrder } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const LONGEST = 2048;
const text = z.string().min(1).max(LONGEST);

function grantType(...allowed: readonly GrantType[]) {
  return z
    .string()
    .refine((value) => (allowed as readonly string[]).includes(value), {
      message: `must be ${allowed.join(', ')}`,
      params: { code: 'unsupported_grant_type' },
    })
    .meta({ openapi: { type: 'string', enum: allowed } });
}

const clientId = z
  .string()
  .regex(CLIENT_ID_PATTERN, 'must be the id of an agent: agent_ and letters or digits')
  .meta({ description: 'Id of the agent' });
const clientSecret = z
  .string()
  .max(LONGEST)
  .regex(/^svc_agent_sk_/, 'must be the key of the agent: svc_agent_sk_…')
  .optional()
  .meta({ description: 'Key of the agent; for public clients left out' });
const scope = text.optional().meta({ description: 'Separated by spaces; all that may be granted when left out' });
const resource = text.optional().meta({ description: 'RFC 8707: an address of this service' });

const tokenRequest = z.object({
  grant_type: grantType(...GRANT_TYPES),
  client_id: clientId,
  client_secret: clientSecret,
  scope,
  code: text.optional().meta({ description: 'authorization_code: works once, for 60 seconds' }),
  redirect_uri: text
    .optional()
    .meta({ description: 'authorization_code: as in the authorization request, byte for byte' }),
  code_verifier: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{43,128}$/, 'must be 43 to 128 letters, digits, - . _ or ~')
    .optional()
    .meta({ description: 'authorization_code: what the code_challenge was made of (RFC 7636)' }),
  refresh_token: text.optional().meta({ description: 'refresh_token: works once, for 30 days' }),
  resource,
});

const refreshRequest = z.object({
  grant_type: grantType('refresh_token'),
  refresh_token: text,
  client_id: clientId,
  client_secret: clientSecret,
  scope,
  resource,
});

const revocation = z.object({
  token: text,
  token_type_hint: text.optional().meta({ openapi: { type: 'string', enum: ['access_token', 'refresh_token'] } }),
});

const tokenResponse = z
  .object({
    access_token: z.string().meta({ description: 'Opaque: svc_at_ and 43 characters' }),
    token_type: z.literal('Bearer'),
    expires_in: z.int().min(0).meta({ description: 'Seconds; 3600, unless the key behind it ends earlier' }),
    refresh_token: z.string().meta({ description: 'Opaque: svc_rt_ and 43 characters; works once, for 30 days' }),
    scope: z.string().meta({ description: 'Separated by spaces' }),
    trust: trustEnvelope,
  })
  .meta({ id: 'TokenResponse' });

const revoked = z.object({ trust: trustEnvelope });

const toRequest = (body: Readonly<Partial<Record<keyof z.output<typeof tokenRequest>, string | undefined>>>): Json =>
  given({
    grantType: body.grant_type,
    clientId: body.client_id,
    clientSecret: body.client_secret,
    scope: body.scope,
    code: body.code,
    redirectUri: body.redirect_uri,
    codeVerifier: body.code_verifier,
    refreshToken: body.refresh_token,
    resource: body.resource,
  });

const presentTokens = (data: Json): Json =>
  inOrder(tokenResponse, {
    access_token: data['accessToken'],
    token_type: 'Bearer',
    expires_in: data['expiresInS'],
    refresh_token: data['refreshToken'],
    scope: (data['scopes'] as readonly string[]).join(' '),
    trust: data['trust'],
  });

const exampleTokens = (scopes: readonly string[]): Json => ({
  access_token: 'svc_at_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1',
  token_type: 'Bearer',
  expires_in: 3600,
  refresh_token: 'svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE2',
  scope: scopes.join(' '),
  trust: exampleTrust(1),
});

const BODIES =
  'JSON is answered as everywhere else. A form (application/x-www-form-urlencoded) is answered as stock OAuth ' +
  'clients expect: no nonce, errors as RFC 6749 §5.2 has them.';

export const oauthOperations = [
  operation({
    id: 'issueToken',
    tag: 'OAuth',
    method: 'POST',
    path: '/oauth/token',
    kind: 'oauth',
    action: null,
    document: null,
    strangerLimit: 'oauth',
    tokenEndpoint: 'exchange',
    summary: 'Get an access token',
    description:
      `client_credentials takes the agent's id and key. authorization_code takes a code that a resource ` +
      `owner granted at GET /v1/oauth/authorize, with its PKCE verifier. refresh_token does what POST ` +
      `/oauth/token/refresh ` +
      `does. ${BODIES}`,
    bodySchema: tokenRequest,
    success: {
      status: 200,
      description: 'A token for an hour, and what to get the next one with',
      schema: tokenResponse,
    },
    problems: ['unsupported_grant_type', 'invalid_grant', 'invalid_scope', 'invalid_client', 'ip_not_allowed'],
    variables: ({ body }) => toRequest(body),
    present: presentTokens,
    example: {
      body: {
        grant_type: 'client_credentials',
        client_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
        client_secret: 'svc_agent_sk_EXAMPLEexampleEXAMPLE12345',
        scope: 'attribution:read',
      },
      response: exampleTokens(['attribution:read']),
    },
  }),
  operation({
    id: 'refreshToken',
    tag: 'OAuth',
    method: 'POST',
    path: '/oauth/token/refresh',
    kind: 'oauth',
    action: null,
    document: null,
    strangerLimit: 'oauth',
    tokenEndpoint: 'exchange',
    summary: 'Get a new pair of tokens for a refresh token',
    description:
      `Each refresh token works once: using one again is answered with 401 invalid_grant and revokes ` +
      `every token that descends from the same authorisation. ${BODIES}`,
    bodySchema: refreshRequest,
    success: { status: 200, description: 'A new pair; the old refresh token is used up', schema: tokenResponse },
    problems: ['unsupported_grant_type', 'invalid_grant', 'invalid_scope', 'invalid_client', 'ip_not_allowed'],
    variables: ({ body }) => toRequest(body),
    present: presentTokens,
    example: {
      body: {
        grant_type: 'refresh_token',
        refresh_token: 'svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1',
        client_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
      },
      response: exampleTokens(SCOPES),
    },
  }),
  operation({
    id: 'revokeToken',
    tag: 'OAuth',
    method: 'POST',
    path: '/oauth/revoke',
    kind: 'oauth',
    action: null,
    document: null,
    strangerLimit: 'oauth',
    tokenEndpoint: 'revoke',
    summary: 'End a token at once',
    description:
      `Whoever has the token may end it. A refresh token takes every token of its authorisation with it, ` +
      `an access token goes alone. Tokens that are unknown or over are no error. ${BODIES}`,
    bodySchema: revocation,
    success: { status: 200, description: 'The token is good for nothing any more', schema: revoked },
    problems: [],
    variables: ({ body }) => ({ token: body.token }),
    present: ({ trust }) => ({ trust }),
    example: {
      body: { token: 'svc_rt_EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEXAMPLE1', token_type_hint: 'refresh_token' },
      response: { trust: exampleTrust(1) },
    },
  }),
];
