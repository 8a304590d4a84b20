import type { Migration } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';

const SESSION_ACCOUNT = `nullif(current_setting('liftgraph.account_id', true), '')::uuid`;
const DEFINER = 'security definer set search_path = agents, pg_temp';

/** Who referred whom, in so many steps: 1 for whoever gave the code, 2 for whoever had referred that one. */
const CHAINS = `
  select referrer.account_id, referrer.id as referrer_id, agent.id as referred_id, 1 as chain_depth, agent.created_at
  from agents.agents agent join agents.agents referrer on referrer.id = agent.referred_by
  union all
  select further.account_id, further.id, agent.id, 2, agent.created_at
  from agents.agents agent join agents.agents referrer on referrer.id = agent.referred_by join agents.agents further
    on further.id = referrer.referred_by`;
const INSERT_CHAINS =
  `insert into agents.referrals (account_id, referrer_id, referred_id, chain_depth, created_at) ` +
  `select account_id, referrer_id, referred_id, chain_depth, created_at from (${CHAINS}) chain`;

/** What ends a referral: an agent with this standing, or a customer that is gone. */
const isOver = (standing: string): string =>
  `(r.status = 'active' and r.last_billable_at <= auth.clock() - make_interval(days => in_idle_days)
                   or r.status in ('pending', 'active')
                     and exists (select from agents gone where gone.id = r.referred_id and gone.status ${standing}))`;
const lookedAt = (over: string): string =>
  `function agents.referrers_to_look_at(in_idle_days integer) returns table (account_id uuid, agent_id uuid)
       language sql stable ${DEFINER}
       as $$ select distinct r.account_id, r.referrer_id from referrals r where ${over} $$`;
const churn = (over: string): string =>
  `function agents.churn_referrals(in_referrer uuid, in_idle_days integer) returns table (referred_id uuid)
       language sql volatile ${DEFINER}
       as $$ update referrals r set status = 'churned', churned_at = auth.clock()
             where r.account_id = ${SESSION_ACCOUNT} and r.referrer_id = in_referrer and ${over}
             returning r.referred_id $$`;

/**
 * Counts an analysis of the session's account for the agent that served it; the referrals that it made active. `sum`:
 * what a referral has accumulated then.
 */
const accrual = (
  sum: string,
): string => `function agents.accrue_referral(in_analysis uuid, in_agent uuid, in_delta_r_cents bigint,
  in_input_digest text, in_active_from_cents bigint)
       returns table (account_id uuid, referrer_id uuid, chain_depth smallint, accumulated_delta_r_cents bigint)
       language plpgsql volatile ${DEFINER} as $$
       #variable_conflict use_column
       begin
         -- In one order, so that two analyses of an agent never wait for each other.
         perform from referrals r where r.referred_id = in_agent order by r.chain_depth for update;
         if not found then return; end if;
         insert into referral_accruals (analysis_id, account_id, agent_id, delta_r_cents, input_digest, accrued_at)
           values (in_analysis, ${SESSION_ACCOUNT}, in_agent, in_delta_r_cents, in_input_digest, auth.clock())
             on conflict do nothing;
         if not found then return; end if;
         update referrals r set accumulated_delta_r_cents = ${sum}, last_billable_at = auth.clock()
           where r.referred_id = in_agent and r.status <> 'churned';
         return query
           update referrals r set status = 'active', activated_at = auth.clock()
           where r.referred_id = in_agent and r.status = 'pending'
             and r.accumulated_delta_r_cents >= in_active_from_cents
           returning r.account_id, r.referrer_id, r.chain_depth, r.accumulated_delta_r_cents;
       end $$`;

/**
 * Referrals and what carries them over their threshold. A referral is its referrer's and changes by what another tenant
 * does, so that only functions write here; referrers read their own rows.
 */
export const referralsMigration: Migration = {
  name: '005-referrals',
  up: [
    `create table agents.referrals (
       referred_id uuid not null,
       chain_depth smallint not null check (chain_depth in (1, 2)),
       account_id uuid not null,
       referrer_id uuid not null,
       status text not null default 'pending' check (status in ('pending', 'active', 'churned')),
       accumulated_delta_r_cents bigint not null default 0 check (accumulated_delta_r_cents >= 0),
       created_at timestamptz(3) not null,
       last_billable_at timestamptz(3),
       activated_at timestamptz(3),
       churned_at timestamptz(3),
       primary key (referred_id, chain_depth),
       check (status <> 'active' or activated_at is not null),
       check ((status = 'churned') = (churned_at is not null))
     )`,
    `comment on column agents.referrals.account_id is 'of the referrer'`,
    `comment on column agents.referrals.last_billable_at is 'when an analysis of the referred agent last counted'`,
    `create index referrals_of_referrer on agents.referrals (referrer_id, status, chain_depth)`,
    `create index referrals_idle on agents.referrals (last_billable_at) where status = 'active'`,
    ...tenantTable('agents.referrals'),
    `create table agents.referral_accruals (
       analysis_id uuid primary key,
       account_id uuid not null,
       agent_id uuid not null,
       delta_r_cents bigint not null check (delta_r_cents >= 0),
       input_digest text,
       accrued_at timestamptz(3) not null
     )`,
    `comment on table agents.referral_accruals is 'analyses that have counted, each once; of equal ones the first'`,
    `comment on column agents.referral_accruals.account_id is 'where the analysis was run'`,
    `create unique index referral_accruals_input on agents.referral_accruals (agent_id, input_digest)`,
    ...tenantTable('agents.referral_accruals'),
    `revoke insert, update, delete, truncate on agents.referrals, agents.referral_accruals from liftgraph_app`,

    INSERT_CHAINS,

    `create function agents.record_referrals(in_agent uuid) returns void
       language sql volatile ${DEFINER}
       as $$ ${INSERT_CHAINS} where referred_id in (select id from agents
         where id = in_agent and account_id = ${SESSION_ACCOUNT}) $$`,

    `create ${accrual('r.accumulated_delta_r_cents + in_delta_r_cents')}`,

    `create ${lookedAt(isOver(`= 'closed'`))}`,
    `create ${churn(isOver(`= 'closed'`))}`,
  ],
};

/**
 * Sums of cents stop at 2^53 - 1, the largest that readers can tell from the next: an event that cannot be counted
 * would hold up all behind it.
 */
export const sumsInRangeMigration: Migration = {
  name: '007-sums-in-range',
  up: [
    `create or replace ${accrual(`least(r.accumulated_delta_r_cents + in_delta_r_cents, ${Number.MAX_SAFE_INTEGER})`)}`,
    `update agents.referrals set accumulated_delta_r_cents = ${Number.MAX_SAFE_INTEGER} where ` +
      `accumulated_delta_r_cents > ${Number.MAX_SAFE_INTEGER}`,
  ],
};

/** Whoever commits fraud is suspended, and the referrals of a suspended agent end as those of a closed one. */
export const fraudMigration: Migration = {
  name: '009-fraud',
  up: [lookedAt, churn].map((ending) => `create or replace ${ending(isOver(`in ('closed', 'suspended')`))}`),
};
