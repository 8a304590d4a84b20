import type { Migration } from '../../../platform/postgres/migrate.ts';
import { environmentTable, narrowTenant, tenantTable } from '../../../platform/postgres/tenant-tables.ts';
import { OFFERED_PLANS } from '../../../schema/contract/subscriptions.ts';
import { PAYMENT_METHODS, SUBSCRIPTION_STATUSES } from '../../../schema/value-lists.ts';

const names = (list: readonly string[]): string => list.map((name) => `'${name}'`).join(', ');
/** How long those of test keys are kept, as everything of the sandbox. */
const SANDBOX_DAYS = 30;

/** Which plans accounts have asked for, and what becomes of them when their period ends. */
export const subscriptionsMigration: Migration = {
  name: '013-subscriptions',
  up: [
    `create table billing.subscriptions (
       id uuid primary key,
       account_id uuid not null,
       environment text not null check (environment in ('live', 'sandbox')),
       for_workspace uuid,
       plan text not null check (plan in (${names(OFFERED_PLANS)})),
       status text not null check (status in (${names(SUBSCRIPTION_STATUSES)})),
       payment_method text not null check (payment_method in (${names(PAYMENT_METHODS)})),
       amount_cents bigint not null check (amount_cents >= 0),
       started_at timestamptz(3) not null,
       anchor_at timestamptz(3),
       periods integer not null default 0,
       period_start timestamptz(3),
       period_end timestamptz(3),
       trial_ends_at timestamptz(3),
       next_plan text check (next_plan in (${names(OFFERED_PLANS)})),
       ended_at timestamptz(3),
       check ((status = 'canceled') = (ended_at is not null)),
       check ((period_start is null) = (period_end is null))
     )`,
    `comment on column billing.subscriptions.anchor_at is 'periods are counted from here, so that a month of 28 days ` +
      `shortens no later one'`,
    `comment on column billing.subscriptions.trial_ends_at is 'of a trial, also when another plan has followed it'`,
    `comment on column billing.subscriptions.next_plan is 'of the account when the period ends; null renews'`,
    // One that counts, and one that waits for a contract.
    `create unique index subscriptions_in_force on billing.subscriptions (account_id, environment)
       where status in ('trialing', 'active', 'past_due')`,
    `create unique index subscriptions_pending on billing.subscriptions (account_id, environment)
       where status = 'pending'`,
    `create index subscriptions_due on billing.subscriptions (period_end) where status in ('trialing', 'active')`,
    ...tenantTable('billing.subscriptions'),
    ...environmentTable('billing.subscriptions'),
    // A plan is of the account as a whole: whoever acts in a workspace sees nothing of it.
    narrowTenant('billing.subscriptions', `current_setting('liftgraph.workspace_id', true) = '*'`),
    `revoke delete, truncate on billing.subscriptions from liftgraph_app`,
    `create function billing.subscriptions_due(in_most integer)
       returns table (id uuid, account_id uuid, environment text)
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select s.id, s.account_id, s.environment from subscriptions s
             where s.status in ('trialing', 'active') and s.period_end <= auth.clock()
                or s.status = 'pending' and s.environment = 'live'
                  and exists (select from auth.accounts a where a.account_id = s.account_id and a.plan = s.plan)
             order by s.period_end nulls first limit in_most $$`,
    // Also for whoever acts in a workspace of the account, and sees nothing of its plan.
    `create function billing.plan_is_past_due() returns boolean
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select exists (select from subscriptions where status = 'past_due' and environment = 'live'
               and account_id = nullif(current_setting('liftgraph.account_id', true), '')::uuid) $$`,
    `create function billing.forget_old_sandbox_subscriptions() returns bigint
       language sql volatile security definer set search_path = billing, pg_temp
       as $$ with gone as (delete from subscriptions where environment = 'sandbox'
               and started_at < auth.clock() - interval '${SANDBOX_DAYS} days' returning 1)
             select count(*) from gone $$`,
  ],
};
