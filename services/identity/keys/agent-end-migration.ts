import type { Migration } from '../../../platform/postgres/migrate.ts';

/**
 * Ends everything that an agent can be recognised by: the keys of its account, and tokens, those that other accounts
 * have granted it included.
 */
export const agentEndMigration: Migration = {
  name: '043-agent-end',
  up: [
    `create function auth.end_agent(in_agent uuid) returns table (key_id uuid)
       language plpgsql volatile security definer set search_path = auth, pg_temp as $$
       declare account uuid := nullif(current_setting('liftgraph.account_id', true), '')::uuid;
       begin
         -- Whoever acts for an account ends the agent of that account and no other.
         if not exists (select from api_keys k where k.account_id = account and k.agent_id = in_agent) then
           return;
         end if;
         update tokens t set revoked_at = auth.clock()
           where t.revoked_at is null and (t.account_id = account or t.agent_id = in_agent);
         return query update api_keys k set revoked_at = auth.clock()
           where k.account_id = account and k.revoked_at is null returning k.id;
       end $$`,
  ],
};
