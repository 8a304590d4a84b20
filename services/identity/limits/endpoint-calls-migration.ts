import type { Migration } from '../../../platform/postgres/migrate.ts';
import { environmentTable, tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/**
 * Which operations an account has called, by UTC day: how often, how often in vain, and how long they took, as counts
 * per bucket of time. Processes count in memory and book every few seconds.
 */
export const endpointCallsMigration: Migration = {
  name: '041-endpoint-calls',
  up: [
    `create table auth.endpoint_calls (
       account_id uuid not null,
       environment text not null check (environment in ('live', 'sandbox')),
       day date not null,
       endpoint text not null,
       calls bigint not null check (calls > 0),
       errors bigint not null check (errors between 0 and calls),
       buckets bigint[] not null,
       primary key (account_id, environment, day, endpoint)
     )`,
    `comment on column auth.endpoint_calls.buckets is 'calls by how long they took, see latency-buckets.ts'`,
    ...tenantTable('auth.endpoint_calls'),
    ...environmentTable('auth.endpoint_calls'),
    `revoke insert, update, delete, truncate on auth.endpoint_calls from liftgraph_app`,
    // In one order, so that processes which book at the same time wait for each other and not in a circle.
    `create function auth.book_endpoint_calls(in_counts jsonb) returns void
       language sql volatile security definer set search_path = auth, pg_temp
       as $$ insert into endpoint_calls as known (account_id, environment, day, endpoint, calls, errors, buckets)
             select (each ->> 'account')::uuid, each ->> 'environment', (auth.clock() at time zone 'UTC')::date,
               each ->> 'endpoint', (each ->> 'calls')::bigint, (each ->> 'errors')::bigint,
               array(select value::bigint from jsonb_array_elements_text(each -> 'buckets') with ordinality as b (value,
                 place) order by place)
             from jsonb_array_elements(in_counts) as each order by 1, 2, 3, 4
             on conflict (account_id, environment, day, endpoint) do update set calls = known.calls + excluded.calls,
               errors = known.errors + excluded.errors,
               buckets = array(select coalesce(a, 0) + coalesce(b, 0)
                 from unnest(known.buckets, excluded.buckets) with ordinality as both_of (a, b, place)
                 order by place) $$`,
  ],
};
