import { COMMISSION_TYPES } from '../../../schema/value-lists.ts';
import type { Migration } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/**
 * What agents have earned: one chain of entries per agent, each linked to the one before by its hash. Entries are never
 * changed: what is taken back is an entry of its own, and what was paid stands elsewhere.
 */
export const commissionsMigration: Migration = {
  name: '003-commissions',
  up: [
    `create table billing.commissions (
       id uuid primary key,
       account_id uuid not null,
       agent_id uuid not null,
       sequence integer not null check (sequence > 0),
       type text not null check (type in (${COMMISSION_TYPES.map((type) => `'${type}'`).join(', ')})),
       source_agent_id uuid not null,
       analysis_id uuid,
       amount_cents bigint not null check (amount_cents <> 0),
       currency text not null check (currency ~ '^[A-Z]{3}$'),
       delta_r_cents bigint not null,
       rate integer not null,
       reverses uuid unique references billing.commissions,
       created_at timestamptz(3) not null,
       payable_at timestamptz(3) not null,
       previous_hash text not null,
       ledger_hash text not null,
       unique (agent_id, sequence),
       check ((type = 'clawback') = (reverses is not null)),
       check (type in ('clawback', 'adjustment') or amount_cents > 0)
     )`,
    `comment on column billing.commissions.account_id is 'of the agent that earns'`,
    `comment on column billing.commissions.source_agent_id is 'that served the analysis'`,
    `comment on column billing.commissions.rate is 'share of the fee, in hundredths of a percent'`,
    `comment on column billing.commissions.reverses is 'the entry that this one takes back'`,
    // Of a fee an agent earns once for each reason.
    `create unique index commissions_once on billing.commissions (analysis_id, agent_id, type) where reverses is null`,
    `create index commissions_of_source on billing.commissions (agent_id, source_agent_id)`,
    `create index commissions_listed on billing.commissions (account_id, created_at desc, id desc)`,
    ...tenantTable('billing.commissions'),
    `revoke update, delete, truncate on billing.commissions from liftgraph_app`,
    `create trigger append_only before update or delete or truncate on billing.commissions
       for each statement execute function billing.append_only()`,

    // The entries of an analysis belong to other accounts than the one that paid for it.
    `create function billing.has_earned(in_analysis uuid) returns boolean
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select exists (select from billing.commissions where analysis_id = in_analysis) $$`,

    // In one currency: a sum of several is none.
    `create function billing.earned_from(in_agent uuid, in_source uuid, in_depth integer) returns bigint
       language sql stable
       as $$ select coalesce(sum(c.amount_cents), 0)::bigint from billing.commissions c
             left join billing.commissions original on original.id = c.reverses
             where c.agent_id = in_agent and c.source_agent_id = in_source and c.currency = 'USD'
               and coalesce(original.type, c.type) = 'l' || in_depth || '_referral' $$`,
    `create function billing.earned_by(in_agent uuid) returns bigint
       language sql stable
       as $$ select coalesce(sum(amount_cents), 0)::bigint from billing.commissions
             where agent_id = in_agent and currency = 'USD' $$`,

    `create table billing.commission_chains (
       agent_id uuid primary key,
       account_id uuid not null,
       sequence integer not null default 0,
       hash text not null
     )`,
    `comment on table billing.commission_chains is 'the last entry of each chain; whoever appends holds its row'`,
    ...tenantTable('billing.commission_chains'),
    `revoke delete, truncate on billing.commission_chains from liftgraph_app`,
  ],
};
