import { issuerOf } from '../../services/identity/oauth/issuer.ts';
import { GRANT_TYPES } from '../../services/identity/oauth/token-endpoint.ts';
import { SCOPES } from '../../schema/principal.ts';
import type { Json } from '../operation.ts';

/** What OAuth clients find out for themselves, by path below the public address (RFC 8414, RFC 9728). */
export function oauthMetadata(publicBaseUrl: string): ReadonlyMap<string, Json> {
  const issuer = issuerOf(publicBaseUrl);
  return new Map([
    ['/.well-known/oauth-authorization-server', authorizationServer(publicBaseUrl, issuer)],
    ['/.well-known/oauth-protected-resource', protectedResource(issuer, issuer)],
    ['/.well-known/oauth-protected-resource/mcp', protectedResource(`${issuer}/mcp`, issuer)],
  ]);
}

function authorizationServer(publicBaseUrl: string, issuer: string): Json {
  const authentication = ['client_secret_basic', 'client_secret_post', 'none'];
  return {
    issuer,
    authorization_endpoint: `${publicBaseUrl}/oauth/authorize`,
    token_endpoint: `${publicBaseUrl}/oauth/token`,
    revocation_endpoint: `${publicBaseUrl}/oauth/revoke`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES,
    token_endpoint_auth_methods_supported: authentication,
    revocation_endpoint_auth_methods_supported: authentication,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
}

function protectedResource(resource: string, issuer: string): Json {
  return {
    resource,
    authorization_servers: [issuer],
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Liftgraph',
    resource_documentation: `${issuer}/docs`,
  };
}
