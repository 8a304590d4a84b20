import type { Migration } from '../../../platform/postgres/migrate.ts';

/** How long a referral earns is billing's business: here stands for how many whole months it has been active. */
export const earnersMigration: Migration = {
  name: '008-earners',
  up: [
    `create function agents.earners(in_agent uuid)
       returns table (account_id uuid, agent_id uuid, chain_depth integer, tier text, months_active integer)
       language sql stable security definer set search_path = agents, pg_temp
       as $$ select account_id, id, 0, tier, 0 from agents where id = in_agent and status = 'active'
             union all
             select r.account_id, r.referrer_id, r.chain_depth::integer, referrer.tier,
               (extract(year from since.age) * 12 + extract(month from since.age))::integer
             from referrals r join agents referrer on referrer.id = r.referrer_id and referrer.status = 'active'
             cross join lateral (select age(auth.clock() at time zone 'UTC', r.activated_at at time zone 'UTC')) since
             where r.referred_id = in_agent and r.status = 'active' $$`,
    `comment on function agents.earners(uuid) is 'the agent itself (depth 0), and those whose active referral it is'`,
    `create function agents.may_be_paid(in_agent uuid) returns boolean
       language sql stable security definer set search_path = agents, pg_temp
       as $$ select exists (select from agents where id = in_agent and status <> 'suspended') $$`,
  ],
};
