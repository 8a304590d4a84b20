import type { Migration } from '../../../platform/postgres/migrate.ts';
import { narrowTenant, tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/** What plans have cost, beside what analyses have: a row for each period of a subscription that fell due. */
export const planChargesMigration: Migration = {
  name: '011-plan-charges',
  up: [
    `create table billing.plan_charges (
       id uuid primary key,
       account_id uuid not null,
       subscription_id uuid not null,
       plan text not null,
       currency text not null check (currency ~ '^[A-Z]{3}$'),
       amount_cents bigint not null check (amount_cents >= 0),
       period_start timestamptz(3) not null,
       period_end timestamptz(3) not null check (period_end > period_start),
       charged_at timestamptz(3) not null default auth.clock(),
       unique (subscription_id, period_start)
     )`,
    `create index plan_charges_by_time on billing.plan_charges (account_id, charged_at)`,
    ...tenantTable('billing.plan_charges'),
    // A plan is of the account as a whole: whoever acts in a workspace sees nothing of it.
    narrowTenant('billing.plan_charges', `current_setting('liftgraph.workspace_id', true) = '*'`),
    `revoke update, delete, truncate on billing.plan_charges from liftgraph_app`,
    `create trigger append_only before update or delete or truncate on billing.plan_charges
       for each statement execute function billing.refuse_change()`,
  ],
};
