import type { Migration } from '../../../platform/postgres/migrate.ts';

/** The plan of whoever tries Pro: a plan of accounts, whose callers are held to the limits of Pro. */
export const proTrialMigration: Migration = {
  name: '042-pro-trial',
  up: [
    `alter table auth.accounts
       drop constraint accounts_plan_check,
       add constraint accounts_plan_check
         check (plan in ('pay_per_analysis', 'pro_trial', 'pro', 'enterprise', 'self_hosted'))`,
    `do $$
     declare
       was constant text := pg_get_functiondef('auth.admit(bytea, inet, boolean, jsonb, integer)'::regprocedure);
       is_now constant text := replace(was, $plans$when shown.plan in ('pro', 'enterprise', 'self_hosted')$plans$,
         $plans$when shown.plan = 'pro_trial' then 'pro'
               when shown.plan in ('pro', 'enterprise', 'self_hosted')$plans$);
     begin
       if is_now = was then raise exception 'auth.admit does not read as it should'; end if;
       execute is_now;
     end $$`,
  ],
};
