import type { FindOauthClient } from '../../../services/identity/oauth/oauth-client.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';

/** The registry as the authorization server asks it: which agent, of whichever tenant, is behind a client id. */
export function findOauthClient(database: Database): FindOauthClient {
  return async (agentId) => {
    type Row = { account_id: Uuid; name: string; redirect_uris: string[]; is_public: boolean };
    const [row] = await database.asNobody((em) =>
      em.execute<Row[]>(`select * from agents.find_oauth_client(?)`, [agentId]),
    );
    return row === undefined
      ? null
      : {
          agentId,
          accountId: row.account_id,
          name: row.name,
          redirectUris: row.redirect_uris,
          isPublic: row.is_public,
        };
  };
}
