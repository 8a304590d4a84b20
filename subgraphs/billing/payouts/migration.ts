import type { Migration } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/** Whether an entry, `c`, may be paid: nothing took it back, nor is it what took something back. */
const STANDS = `c.reverses is null and not exists (select from commissions taken where taken.reverses = c.id)`;

/** What was paid to agents, once a month, and for which entries of their ledger. Never changed, as the ledger. */
export const payoutsMigration: Migration = {
  name: '004-payouts',
  up: [
    `create table billing.payouts (
       id uuid primary key,
       account_id uuid not null,
       agent_id uuid not null,
       month date not null check (month = date_trunc('month', month::timestamp)::date),
       currency text not null check (currency ~ '^[A-Z]{3}$'),
       amount_cents bigint not null check (amount_cents > 0),
       paid_at timestamptz(3) not null default auth.clock(),
       unique (agent_id, month, currency)
     )`,
    `comment on column billing.payouts.month is 'whose first day was the day of the payout'`,
    ...tenantTable('billing.payouts'),
    `create table billing.paid_commissions (
       commission_id uuid primary key references billing.commissions,
       account_id uuid not null,
       payout_id uuid not null references billing.payouts
     )`,
    `create index paid_commissions_payout on billing.paid_commissions (payout_id)`,
    ...tenantTable('billing.paid_commissions'),
    ...['payouts', 'paid_commissions'].flatMap((table) => [
      `revoke update, delete, truncate on billing.${table} from liftgraph_app`,
      `create trigger append_only before update or delete or truncate on billing.${table}
         for each statement execute function billing.append_only()`,
    ]),

    // Of other accounts than the one that was to pay: of whoever has earned on its fees of a month.
    `create function billing.commissions_on_fees(in_account uuid, in_month text, in_currency text)
       returns table (id uuid, account_id uuid, agent_id uuid, sequence integer, type text, source_agent_id uuid,
         analysis_id uuid, amount_cents bigint, currency text, delta_r_cents bigint, rate integer, reverses uuid,
         created_at timestamptz, payable_at timestamptz, previous_hash text, ledger_hash text, is_paid boolean)
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select c.id, c.account_id, c.agent_id, c.sequence, c.type, c.source_agent_id, c.analysis_id,
               c.amount_cents, c.currency, c.delta_r_cents, c.rate, c.reverses, c.created_at, c.payable_at,
               c.previous_hash, c.ledger_hash,
               exists (select from paid_commissions paid where paid.commission_id = c.id)
             from charges fee join commissions c on c.analysis_id = fee.analysis_id
             where fee.account_id = in_account and coalesce(fee.currency, 'USD') = in_currency
               and to_char(fee.charged_at at time zone 'UTC', 'YYYY-MM') = in_month
               and c.type <> 'adjustment' and ${STANDS} $$`,

    `create index commissions_payable on billing.commissions (payable_at)`,
    // Of the whole house; whoever pays acts for each agent's account in turn.
    `create function billing.agents_to_pay(in_before timestamptz) returns table (account_id uuid, agent_id uuid)
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select distinct c.account_id, c.agent_id from commissions c where c.payable_at < in_before
               and not exists (select from paid_commissions paid where paid.commission_id = c.id) and ${STANDS} $$`,
  ],
};
