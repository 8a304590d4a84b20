import type { Migration } from '../../../platform/postgres/migrate.ts';

/** The plan of whoever runs the service for himself: a plan of accounts, and a class of callers. */
export const selfHostedMigration: Migration = {
  name: '039-self-hosted',
  up: [
    `alter table auth.accounts
       drop constraint accounts_plan_check,
       add constraint accounts_plan_check check (plan in ('pay_per_analysis', 'pro', 'enterprise', 'self_hosted'))`,
    `do $$
     declare
       was constant text := pg_get_functiondef('auth.admit(bytea, inet, boolean, jsonb, integer)'::regprocedure);
       is_now constant text := replace(was, $plans$in ('pro', 'enterprise')$plans$,
         $plans$in ('pro', 'enterprise', 'self_hosted')$plans$);
     begin
       if is_now = was then raise exception 'auth.admit does not read as it should'; end if;
       execute is_now;
     end $$`,
  ],
};
