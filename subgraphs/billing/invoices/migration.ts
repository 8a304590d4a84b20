import type { Migration } from '../../../platform/postgres/migrate.ts';
import { narrowTenant, tenantTable } from '../../../platform/postgres/tenant-tables.ts';
import { INVOICE_STATUSES, PAYMENT_METHODS } from '../../../schema/value-lists.ts';
import { differs, LEGS } from '../books/migration.ts';
import { USUAL_CURRENCY } from '../ledger/ledger.ts';

const names = (list: readonly string[]): string => list.map((name) => `'${name}'`).join(', ');
/** A month closes on the first of the next, two o'clock UTC: what completes about midnight is charged by then. */
const OPEN_MONTH = `date_trunc('month', (auth.clock() - interval '2 hours') at time zone 'UTC') at time zone 'UTC'`;

/** What accounts were asked to pay, a row for each month and currency. Only whether it was paid ever changes. */
export const invoicesMigration: Migration = {
  name: '015-invoices',
  up: [
    `create table billing.invoices (
       id uuid primary key,
       account_id uuid not null,
       month date not null check (month = date_trunc('month', month)),
       currency text not null check (currency ~ '^[A-Z]{3}$'),
       billed_to text,
       analyses_count integer not null,
       platform_fee_cents bigint not null,
       floor_fee_cents bigint not null,
       plan_fee_cents bigint not null,
       total_billed_cents bigint not null check (total_billed_cents > 0),
       status text not null check (status in (${names(INVOICE_STATUSES)})),
       created_at timestamptz(3) not null default auth.clock(),
       due_date date not null,
       settled_at timestamptz(3),
       payment_method text check (payment_method in (${names(PAYMENT_METHODS)})),
       unique (account_id, month, currency),
       check (total_billed_cents = platform_fee_cents + floor_fee_cents + plan_fee_cents),
       check ((status in ('paid', 'void')) = (settled_at is not null)),
       check ((status = 'paid') = (payment_method is not null))
     )`,
    `create index invoices_newest on billing.invoices (account_id, created_at desc, id desc)`,
    `create index invoices_open on billing.invoices (due_date) where status = 'invoiced'`,
    `create index charges_to_invoice on billing.charges (charged_at) where fee_cents > 0`,
    ...tenantTable('billing.invoices'),
    // An invoice is of the account as a whole: whoever acts in a workspace sees nothing of it.
    narrowTenant('billing.invoices', `current_setting('liftgraph.workspace_id', true) = '*'`),
    `revoke delete, truncate on billing.invoices from liftgraph_app`,
    `create function billing.guard_invoice() returns trigger language plpgsql as $$ begin
       if tg_op = 'UPDATE' then
         if to_jsonb(new) - '{status,settled_at,payment_method}'::text[]
              = to_jsonb(old) - '{status,settled_at,payment_method}'::text[]
            and old.status in ('invoiced', 'past_due') then return new; end if;
       end if;
       raise exception 'an invoice is settled once, and never changed or removed' using errcode = 'restrict_violation';
     end $$`,
    `create trigger guard before update or delete on billing.invoices
       for each row execute function billing.guard_invoice()`,
    `create trigger guard_all before truncate on billing.invoices
       for each statement execute function billing.guard_invoice()`,
    `create function billing.months_to_invoice(in_most integer)
       returns table (account_id uuid, month text, currency text)
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select due.account_id, due.month, due.currency from (
               select c.account_id, to_char(charged_at at time zone 'UTC', 'YYYY-MM') as month,
                 coalesce(c.currency, '${USUAL_CURRENCY}') as currency
               from charges c where fee_cents > 0 and charged_at < ${OPEN_MONTH}
               union
               select p.account_id, to_char(charged_at at time zone 'UTC', 'YYYY-MM'), p.currency
               from plan_charges p where amount_cents > 0 and charged_at < ${OPEN_MONTH}) due
             where not exists (select from invoices i where i.account_id = due.account_id
               and i.month = (due.month || '-01')::date and i.currency = due.currency)
             order by due.month, due.account_id, due.currency limit in_most $$`,
    `create function billing.invoices_overdue() returns table (id uuid, account_id uuid)
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select i.id, i.account_id from invoices i
             where i.status = 'invoiced' and i.due_date < (auth.clock() at time zone 'UTC')::date $$`,
    `create function billing.account_of_invoice(in_id uuid) returns uuid
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select account_id from invoices where id = in_id $$`,
    `do $patch$
     declare
       was constant text := pg_get_functiondef('billing.check_books()'::regprocedure);
       known constant text := replace(was, $from$'payout', 'plan')$from$, $to$'payout', 'plan', 'payment', 'void')$to$);
       is_now constant text := replace(known, $from$select 'balance', found.*$from$,
         $to$select 'payment', found.* from (
           select i.id::text from billing.invoices i
             left join billing.transfers t on t.key = 'payment:' || i.id ${LEGS}
           where i.status = 'paid'
             and ${differs('i', `'cash'`, `'receivable'`, 'i.total_billed_cents', 'i.currency', 'settled_at')}
           union all
           select i.id::text from billing.invoices i
             where i.status = 'void' and i.total_billed_cents is distinct from
               (select sum(t.amount_cents) from billing.transfers t where t.key like 'void:' || i.id || ':%')
           union all
           select t.key from billing.transfers t where split_part(t.key, ':', 1) in ('payment', 'void') and not exists
             (select from billing.invoices i where i.id::text = split_part(t.key, ':', 2)
               and i.status = case split_part(t.key, ':', 1) when 'void' then 'void' else 'paid' end)) found
         union all select 'balance', found.*$to$);
     begin
       if known = was or is_now = known then raise exception 'billing.check_books does not read as it should'; end if;
       execute is_now;
     end $patch$`,
  ],
};
