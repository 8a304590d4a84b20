import type { Migration } from '../../../platform/postgres/migrate.ts';
import { differs, LEGS } from './migration.ts';

/** Prices of plans are in the books, too: each has its transfer, and each such transfer its price. */
export const planBooksMigration: Migration = {
  name: '014-plan-books',
  up: [
    `do $patch$
     declare
       was constant text := pg_get_functiondef('billing.check_books()'::regprocedure);
       known constant text := replace(was, $from$not in ('fee', 'commission', 'payout')$from$,
         $to$not in ('fee', 'commission', 'payout', 'plan')$to$);
       is_now constant text := replace(known, $from$select 'balance', found.*$from$,
         $to$select 'plan', found.* from (
           select p.id::text from billing.plan_charges p
             left join billing.transfers t on t.key = 'plan:' || p.id ${LEGS}
           where p.amount_cents > 0
             and ${differs('p', `'receivable'`, `'plan_fees'`, 'p.amount_cents', 'p.currency', 'charged_at')}
           union all
           select t.key from billing.transfers t where t.key like 'plan:%' and not exists
             (select from billing.plan_charges p where t.key = 'plan:' || p.id)) found
         union all select 'balance', found.*$to$);
     begin
       if known = was or is_now = known then raise exception 'billing.check_books does not read as it should'; end if;
       execute is_now;
     end $patch$`,
  ],
};
