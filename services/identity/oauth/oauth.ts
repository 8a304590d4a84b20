import type { Database } from '../../../platform/postgres/database.ts';
import type { Admission } from '../admission/admission.ts';
import { OauthAuthorizationEndpoint, type AuthorizationEndpoint } from './authorization-endpoint.ts';
import { AuthorizationCodeStore } from './authorization-code-store.ts';
import { ClientAuthentication } from './client-authentication.ts';
import type { FindOauthClient } from './oauth-client.ts';
import { OauthTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts';
import { TokenStore } from './token-store.ts';

/** The authorization server (RFC 6749 §1.1) that every process with doors carries. */
export interface Oauth {
  readonly tokens: TokenEndpoint;
  readonly authorizations: AuthorizationEndpoint;
}

export interface OauthServices {
  readonly database: Database;
  readonly keyPepper: Buffer;
  /** Judges keys, of clients and of resource owners. */
  readonly admission: Admission;
  readonly findClient: FindOauthClient;
  /** Ends in `/v1`; what clients see. */
  readonly publicBaseUrl: string;
}

/** The authorization server on PostgreSQL: exact across processes, immediate on revocation. */
export function openOauth({ database, keyPepper, admission, findClient, publicBaseUrl }: OauthServices): Oauth {
  const codes = new AuthorizationCodeStore(database, keyPepper);
  return {
    tokens: new OauthTokenEndpoint({
      database,
      clients: new ClientAuthentication(database, admission, findClient),
      codes,
      tokens: new TokenStore(database, keyPepper),
    }),
    authorizations: new OauthAuthorizationEndpoint({ database, admission, findClient, codes, publicBaseUrl }),
  };
}
