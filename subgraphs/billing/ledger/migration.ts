import type { Migration } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';
import { HOUSE_ACCOUNTS, LEDGER_ACCOUNTS } from './ledger.ts';

const DEFINER = 'security definer set search_path = billing, pg_temp';
const names = (list: readonly string[]): string => list.map((name) => `'${name}'`).join(', ');

/**
 * Double entry: a transfer takes an amount from one ledger account to another, so that no set of transfers is out of
 * balance. What a transfer may not do, its trigger refuses, whoever writes it; balances follow from transfers alone.
 */
export const ledgerMigration: Migration = {
  name: '002-ledger',
  up: [
    `create table billing.ledger_accounts (
       id uuid primary key default gen_random_uuid(),
       account_id uuid,
       kind text not null check (kind in (${names(LEDGER_ACCOUNTS)})),
       currency text not null check (currency ~ '^[A-Z]{3}$'),
       balance_cents bigint not null default 0,
       opened_at timestamptz(3) not null default auth.clock(),
       closed_at timestamptz(3),
       unique nulls not distinct (account_id, kind, currency),
       check ((account_id is null) = (kind in (${names(HOUSE_ACCOUNTS)})))
     )`,
    `comment on column billing.ledger_accounts.account_id is 'whose it is; null for those of the house'`,
    `comment on column billing.ledger_accounts.balance_cents is 'debits less credits'`,
    `comment on column billing.ledger_accounts.closed_at is 'from then on it can only be settled'`,
    ...tenantTable('billing.ledger_accounts'),
    `revoke insert, update, delete, truncate on billing.ledger_accounts from liftgraph_app`,

    `create table billing.transfers (
       key text primary key,
       account_id uuid not null,
       debit uuid not null references billing.ledger_accounts,
       credit uuid not null references billing.ledger_accounts,
       amount_cents bigint not null check (amount_cents > 0),
       currency text not null,
       reverses text unique references billing.transfers,
       posted_at timestamptz(3) not null default auth.clock(),
       check (debit <> credit)
     )`,
    `comment on column billing.transfers.key is 'what it is for, such as fee: and the analysis; one transfer each'`,
    `create index transfers_debit on billing.transfers (debit)`,
    `create index transfers_credit on billing.transfers (credit)`,
    ...tenantTable('billing.transfers'),
    `revoke update, delete, truncate on billing.transfers from liftgraph_app`,

    `create function billing.append_only() returns trigger language plpgsql as $$ begin
       raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'restrict_violation';
     end $$`,
    `create trigger append_only before update or delete or truncate on billing.transfers
       for each statement execute function billing.append_only()`,

    `create function billing.apply_transfer() returns trigger language plpgsql ${DEFINER} as $$
       declare leg record; original transfers; after bigint;
       begin
         if new.reverses is not null then
           select * into original from transfers where key = new.reverses;
           if (original.debit, original.credit, original.amount_cents) <> (new.credit, new.debit, new.amount_cents) then
             raise exception 'a reversal takes back what it reverses, all of it' using errcode = 'check_violation';
           end if;
         end if;
         -- In one order, so that two transfers never wait for each other; and not "for update", which would wait for
         -- the share that each transfer has in its accounts by the foreign keys.
         for leg in select *, case id when new.debit then new.amount_cents else -new.amount_cents end as change
           from ledger_accounts where id in (new.debit, new.credit) order by id for no key update
         loop
           after := leg.balance_cents + leg.change;
           if leg.currency <> new.currency then
             raise exception 'a transfer of % cannot touch an account in %', new.currency, leg.currency
               using errcode = 'check_violation';
           end if;
           if leg.account_id <> new.account_id then
             raise exception 'a transfer touches the accounts of one owner and of the house'
               using errcode = 'check_violation';
           end if;
           if leg.closed_at is not null
             and (abs(after) > abs(leg.balance_cents) or after::numeric * leg.balance_cents < 0)
           then
             raise exception 'a closed account can only be settled' using errcode = 'check_violation';
           end if;
           update ledger_accounts set balance_cents = after where id = leg.id;
         end loop;
         return null;
       end $$`,
    // After, so that a repeated key, which inserts nothing, moves nothing.
    `create trigger apply_transfer after insert on billing.transfers
       for each row execute function billing.apply_transfer()`,

    `create function billing.guard_ledger_account() returns trigger language plpgsql as $$ begin
       if tg_op <> 'UPDATE' then
         raise exception 'ledger accounts are never removed' using errcode = 'restrict_violation';
       end if;
       if (new.id, new.account_id, new.kind, new.currency, new.opened_at)
           is distinct from (old.id, old.account_id, old.kind, old.currency, old.opened_at)
         or new.balance_cents <> old.balance_cents and pg_trigger_depth() < 2
         or old.closed_at is not null and new.closed_at is distinct from old.closed_at
       then
         raise exception 'a ledger account changes by transfers alone' using errcode = 'restrict_violation';
       end if;
       return new;
     end $$`,
    `create trigger guard before update or delete on billing.ledger_accounts
       for each row execute function billing.guard_ledger_account()`,
    `create trigger guard_all before truncate on billing.ledger_accounts
       for each statement execute function billing.append_only()`,

    `create function billing.ledger_account(in_account uuid, in_kind text, in_currency text) returns uuid
       language plpgsql volatile ${DEFINER} as $$
       declare found uuid; owner uuid := case when in_kind in (${names(HOUSE_ACCOUNTS)}) then null else in_account end;
       begin
         loop
           select id into found from ledger_accounts
             where account_id is not distinct from owner and kind = in_kind and currency = in_currency;
           if found is not null then return found; end if;
           insert into ledger_accounts (account_id, kind, currency) values (owner, in_kind, in_currency)
             on conflict do nothing;
         end loop;
       end $$`,
    `comment on function billing.ledger_account(uuid, text, text) is 'opens it at its first use'`,
    `create function billing.close_ledger_account(in_kind text) returns void
       language sql volatile ${DEFINER} as $$ update ledger_accounts set closed_at = auth.clock()
         where kind = in_kind and closed_at is null
           and account_id = nullif(current_setting('liftgraph.account_id', true), '')::uuid $$`,

    // What was charged before there was a ledger.
    `insert into billing.transfers (account_id, key, debit, credit, amount_cents, currency, posted_at)
       select account_id, 'fee:' || analysis_id,
         billing.ledger_account(account_id, 'receivable', coalesce(currency, 'USD')),
         billing.ledger_account(account_id, 'fees', coalesce(currency, 'USD')),
         fee_cents, coalesce(currency, 'USD'), charged_at
       from billing.charges where fee_cents > 0 order by charged_at, analysis_id`,
  ],
};
