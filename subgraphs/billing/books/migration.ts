import type { Migration } from '../../../platform/postgres/migrate.ts';

/** Whether a transfer is not the one that a document asks for: its owner, accounts, amount, currency and moment. */
export const differs = (
  document: string,
  debit: string,
  credit: string,
  amount: string,
  currency: string,
  at: string,
) =>
  `(t.key is null or t.account_id <> ${document}.account_id or t.amount_cents <> ${amount} or t.currency <> ${currency}
     or t.posted_at <> ${document}.${at} or d.kind <> ${debit} or c.kind <> ${credit})`;
export const LEGS =
  'left join billing.ledger_accounts d on d.id = t.debit left join billing.ledger_accounts c on c.id = t.credit';

/** Each way in which the books could be wrong, as what is found of it. */
const CHECKS: readonly (readonly [name: string, sql: string])[] = [
  [
    'balance',
    `select a.id::text from billing.ledger_accounts a
     where a.balance_cents <> (
       select coalesce(sum(case a.id when t.debit then t.amount_cents else -t.amount_cents end), 0)
       from billing.transfers t where a.id in (t.debit, t.credit))`,
  ],
  ['currency', 'select currency from billing.ledger_accounts group by currency having sum(balance_cents) <> 0'],
  [
    'transfer',
    `select t.key from billing.transfers t ${LEGS}
     where t.currency <> d.currency or t.currency <> c.currency
       or t.account_id is distinct from coalesce(d.account_id, c.account_id)
       or split_part(t.key, ':', 1) not in ('fee', 'commission', 'payout')`,
  ],
  [
    'reversal',
    `select t.key from billing.transfers t join billing.transfers o on o.key = t.reverses
     where (t.debit, t.credit, t.amount_cents) <> (o.credit, o.debit, o.amount_cents)`,
  ],
  [
    'fee',
    `select f.analysis_id::text from billing.charges f
       left join billing.transfers t on t.key = 'fee:' || f.analysis_id ${LEGS}
     where f.fee_cents > 0
       and ${differs('f', `'receivable'`, `'fees'`, 'f.fee_cents', `coalesce(f.currency, 'USD')`, 'charged_at')}
     union all
     select t.key from billing.transfers t where t.key like 'fee:%' and not exists
       (select from billing.charges f where t.key = 'fee:' || f.analysis_id and f.fee_cents > 0)`,
  ],
  [
    'commission',
    `select e.id::text from billing.commissions e
       left join billing.transfers t on t.key = 'commission:' || e.id ${LEGS}
     where ${differs(
       'e',
       `(case when e.amount_cents > 0 then 'commissions' else 'payable' end)`,
       `(case when e.amount_cents > 0 then 'payable' else 'commissions' end)`,
       'abs(e.amount_cents)',
       'e.currency',
       'created_at',
     )} or t.reverses is distinct from 'commission:' || e.reverses
     union all
     select t.key from billing.transfers t where t.key like 'commission:%' and not exists
       (select from billing.commissions e where t.key = 'commission:' || e.id)`,
  ],
  [
    'payout',
    `select p.id::text from billing.payouts p left join billing.transfers t on t.key = 'payout:' || p.id ${LEGS}
     where ${differs('p', `'payable'`, `'cash'`, 'p.amount_cents', 'p.currency', 'paid_at')}
       or p.amount_cents <> (select coalesce(sum(e.amount_cents), 0) from billing.paid_commissions paid
         join billing.commissions e on e.id = paid.commission_id and e.agent_id = p.agent_id and e.currency = p.currency
         where paid.payout_id = p.id)
     union all
     select t.key from billing.transfers t where t.key like 'payout:%' and not exists
       (select from billing.payouts p where t.key = 'payout:' || p.id)`,
  ],
  [
    'paid_twice',
    `select paid.commission_id::text from billing.paid_commissions paid
     join billing.commissions taken on taken.reverses = paid.commission_id`,
  ],
];

/** Whether what is owed, paid and earned agrees, down to each row; for whoever runs the house. */
export const booksMigration: Migration = {
  name: '005-books',
  up: [
    `create function billing.check_books() returns table (check_name text, subject text)
       language sql stable security definer set search_path = billing, pg_temp
       as $$ ${CHECKS.map(([name, sql]) => `select '${name}', found.* from (${sql}) found`).join(' union all ')} $$`,
    `create function billing.commission_accounts() returns setof uuid
       language sql stable security definer set search_path = billing, pg_temp
       as $$ select account_id from commission_chains union select account_id from commissions $$`,
    `revoke execute on function billing.check_books(), billing.commission_accounts() from public`,
    `grant execute on function billing.check_books(), billing.commission_accounts() to liftgraph_app`,
  ],
};
