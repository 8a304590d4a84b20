import type { Migration } from '../../../platform/postgres/migrate.ts';
import { IN_WORKSPACE, narrowTenant, tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/**
 * What each completed live analysis has cost, once and for good. Nobody changes or removes a row, not even the owner of
 * the table; the application adds some.
 */
export const chargesMigration: Migration = {
  name: '001-charges',
  up: [
    `create table billing.charges (
       analysis_id uuid primary key,
       account_id uuid not null,
       workspace_id uuid,
       agent_id uuid,
       plan text,
       currency text check (currency ~ '^[A-Z]{3}$'),
       delta_r_cents bigint not null check (delta_r_cents >= 0),
       fee_cents bigint not null check (fee_cents >= 0),
       input_digest text,
       repeats uuid references billing.charges,
       charged_at timestamptz(3) not null default auth.clock(),
       check (repeats is null or fee_cents = 0)
     )`,
    `comment on column billing.charges.agent_id is 'the agent that served the analysis; null for none'`,
    `comment on column billing.charges.plan is 'of the account at that moment; null for analyses that had completed ` +
      `before there were charges, which cost nothing'`,
    `comment on column billing.charges.input_digest is 'names rows and question; null where it was not measured'`,
    `comment on column billing.charges.repeats is 'the analysis of the account that had the same input digest first'`,
    // Of equal analyses one is charged, however many complete at the same moment.
    `create unique index charges_input on billing.charges (account_id, input_digest) where repeats is null`,
    `create index charges_served on billing.charges (agent_id) where repeats is null`,
    ...tenantTable('billing.charges'),
    narrowTenant('billing.charges', IN_WORKSPACE),
    `revoke update, delete, truncate on billing.charges from liftgraph_app`,
    `create function billing.refuse_change() returns trigger language plpgsql as $$ begin
       raise exception 'charges are never changed or removed' using errcode = 'restrict_violation';
     end $$`,
    `create trigger append_only before update or delete or truncate on billing.charges
       for each statement execute function billing.refuse_change()`,

    // Of equal analyses of an agent the first counts, whichever account had it. The sum stops at 2^53 - 1, the largest
    // number of cents that readers can tell from the next.
    `create function billing.recovered_here(in_agent uuid) returns bigint
       language sql stable
       as $$ select least(coalesce(sum(delta_r_cents), 0), ${Number.MAX_SAFE_INTEGER})::bigint from (
               select distinct on (coalesce(input_digest, analysis_id::text)) delta_r_cents from billing.charges
               where agent_id = in_agent and repeats is null and plan is distinct from 'self_hosted'
               order by coalesce(input_digest, analysis_id::text), charged_at, analysis_id) counted $$`,
    `comment on function billing.recovered_here(uuid) is 'recovered revenue that an agent has to its credit, as far ` +
      `as whoever asks can see'`,
    // An agent serves the accounts of others, too, and sees of them this sum alone.
    `create function billing.recovered(in_agent uuid) returns bigint
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select billing.recovered_here(in_agent) $$`,

    `do $$ begin
       if to_regclass('attribution.attributions') is null then return; end if;
       insert into billing.charges (analysis_id, account_id, workspace_id, agent_id, currency, delta_r_cents, fee_cents,
           input_digest, repeats, charged_at)
         select id, account_id, workspace_id, agent_id, result ->> 'currency',
           least((result ->> 'deltaRCents')::numeric, ${Number.MAX_SAFE_INTEGER})::bigint, 0,
           trust -> 'trace' ->> 'inputsDigest',
           case when trust -> 'trace' ->> 'inputsDigest' is null then null else nullif(first_value(id) over (
             partition by account_id, trust -> 'trace' ->> 'inputsDigest' order by completed_at, id), id) end,
           completed_at
         from attribution.attributions
         where environment = 'live' and completed_at is not null and (result ->> 'deltaRCents')::numeric >= 0;
     end $$`,
  ],
};
