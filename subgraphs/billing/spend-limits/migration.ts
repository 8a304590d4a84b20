import type { Migration } from '../../../platform/postgres/migrate.ts';
import { environmentTable, narrowTenant, tenantTable } from '../../../platform/postgres/tenant-tables.ts';
import { USUAL_CURRENCY } from '../ledger/ledger.ts';

const ASKING = `nullif(current_setting('liftgraph.account_id', true), '')::uuid`;
const MONTH = `date_trunc('month', auth.clock() at time zone 'UTC') at time zone 'UTC'`;
const MOST_CENTS = Number.MAX_SAFE_INTEGER;

/** What accounts want to spend, what they have spent in the running month, and which thresholds were told of. */
export const spendLimitsMigration: Migration = {
  name: '012-spend-limits',
  up: [
    `create table billing.spend_limits (
       account_id uuid not null,
       environment text not null check (environment in ('live', 'sandbox')),
       monthly_limit_cents bigint not null check (monthly_limit_cents >= 0),
       action text not null check (action in ('block', 'notify')),
       alert_thresholds integer[] not null,
       set_at timestamptz(3) not null default auth.clock(),
       primary key (account_id, environment)
     )`,
    `comment on column billing.spend_limits.alert_thresholds is 'in ten thousandths of the limit, the lowest first'`,
    ...tenantTable('billing.spend_limits'),
    ...environmentTable('billing.spend_limits'),
    // Whoever acts in a workspace spends for its account, and is held to the limit of it.
    narrowTenant('billing.spend_limits', `current_setting('liftgraph.workspace_id', true) is not null`),
    `create table billing.spend_alerts (
       account_id uuid not null,
       month date not null,
       currency text not null check (currency ~ '^[A-Z]{3}$'),
       threshold integer not null,
       told_at timestamptz(3) not null default auth.clock(),
       primary key (account_id, month, currency, threshold)
     )`,
    ...tenantTable('billing.spend_alerts'),
    `revoke update, delete, truncate on billing.spend_alerts from liftgraph_app`,
    // Of the whole account, also where somebody acts in a workspace of it and sees its charges alone.
    `create function billing.spent_this_month(in_currency text, out spent bigint)
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select least(coalesce(sum(cents), 0), ${MOST_CENTS})::bigint from (
               select fee_cents as cents from charges where account_id = ${ASKING} and charged_at >= ${MONTH}
                 and coalesce(currency, '${USUAL_CURRENCY}') = in_currency
               union all
               select amount_cents from plan_charges where account_id = ${ASKING} and charged_at >= ${MONTH}
                 and currency = in_currency) counted $$`,
    // An analysis is charged moments after it has completed; its event says meanwhile what it is going to cost.
    `create function billing.about_to_be_charged(in_currency text, out cents bigint)
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select least(coalesce(sum((event.data ->> 'platform_fee_cents')::numeric), 0), ${MOST_CENTS})::bigint
             from events.outbox event where event.account_id = ${ASKING} and event.environment = 'live'
               and event.type = 'attribution.completed' and event.relayed_at is null
               and coalesce(event.data ->> 'currency', '${USUAL_CURRENCY}') = in_currency $$`,
    // Of a table that is another owner's, and there when somebody asks.
    `create function billing.analyses_under_way() returns bigint
       language plpgsql stable security definer set search_path = billing, pg_temp
       as $$ begin
         return (select count(*) from attribution.attributions where account_id = ${ASKING} and environment = 'live'
           and status in ('pending', 'processing') and completed_at is null);
       end $$`,
  ],
};
