import type { Migration } from '../../../platform/postgres/migrate.ts';

/** As everything of the sandbox, and as results. */
const SANDBOX_DAYS = 30;
const YEARS = 2;

/** Counts of calls by operation are forgotten when what was called for is. */
export const oldEndpointCallsMigration: Migration = {
  name: '044-old-endpoint-calls',
  up: [
    `create function auth.forget_old_endpoint_calls() returns bigint
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ with gone as (delete from endpoint_calls where day < (auth.clock() at time zone 'UTC')::date
               - case environment when 'sandbox' then interval '${SANDBOX_DAYS} days' else interval '${YEARS} years' end
               returning 1)
             select count(*) from gone $$`,
  ],
};
