import { PgBoss } from 'pg-boss';
import type { Migration, MigrationOwner } from '../postgres/migrate.ts';

export const JOBS_SCHEMA = 'jobs';

/** Who comes anew goes before whoever was served within this time, and behind those who have waited for longer. */
const NEWCOMER_LEAD = '1 minute';

/**
 * pg-boss takes the eldest job, whoever has asked for it. So its jobs are tickets ("something waits"), and what waits
 * stands in a line of ours, from which a ticket is given the job of the tenant whose turn it is, under a lock.
 */
const FAIR_LINES: Migration = {
  name: '002-fair-lines',
  up: [
    `create table ${JOBS_SCHEMA}.waiting (
       id uuid primary key,
       queue text not null,
       tenant text not null,
       share text not null,
       singleton_key text not null,
       is_large boolean not null,
       data jsonb not null,
       place bigint not null generated always as identity,
       start_after timestamptz not null
     )`,
    `comment on table ${JOBS_SCHEMA}.waiting is 'jobs that wait for a first worker; each came with a ticket, but ` +
      `leaves with any'`,
    `comment on column ${JOBS_SCHEMA}.waiting.share is 'limits of a queue hold within it; turns are ` +
      `those of the tenant'`,
    `create unique index waiting_once on ${JOBS_SCHEMA}.waiting (queue, singleton_key)`,
    `create index waiting_in_line on ${JOBS_SCHEMA}.waiting (queue, tenant, share, place)`,
    `create table ${JOBS_SCHEMA}.turns (queue text not null, tenant text not null, last_turn timestamptz not null, ` +
      `primary key (queue, tenant))`,
    // Fewest running first, then who was served longest ago. What runs is counted in the tickets that were given a job:
    // a job that ends, or whose worker died, counts no more.
    `create function ${JOBS_SCHEMA}.take_next(in_queue text, in_ticket uuid, in_most integer, in_large boolean,
      in_retries integer, out data jsonb, out tenant text, out is_large boolean, out waits boolean)
       language plpgsql volatile
       as $$ #variable_conflict use_column
       declare chosen ${JOBS_SCHEMA}.waiting; begin
         perform pg_advisory_xact_lock(hashtextextended(in_queue || ' turn', 0));
         with busy as materialized (
           select j.group_id as tenant, j.group_tier as share, count(*) as running from ${JOBS_SCHEMA}.job j
           where j.name = in_queue and j.state = 'active' and j.group_id is not null group by 1, 2),
         heads as (
           select distinct on (w.tenant, w.share, w.is_large) w.id, w.tenant, w.share, w.start_after, w.place
             from ${JOBS_SCHEMA}.waiting w
           where w.queue = in_queue and w.start_after <= clock_timestamp() and (in_large or not w.is_large)
           order by w.tenant, w.share, w.is_large, w.place),
         next as (
           select h.id from heads h left join ${JOBS_SCHEMA}.turns t on t.queue = in_queue and t.tenant = h.tenant
           where in_most is null or coalesce((select b.running from busy b
             where b.tenant = h.tenant and b.share = h.share), 0) < in_most
           order by coalesce((select sum(b.running) from busy b where b.tenant = h.tenant), 0),
             greatest(t.last_turn, h.start_after - interval '${NEWCOMER_LEAD}'), h.place
           limit 1)
         delete from ${JOBS_SCHEMA}.waiting w where w.id = (select next.id from next) returning * into chosen;
         waits := chosen.id is not null or exists (select from ${JOBS_SCHEMA}.waiting w
           where w.queue = in_queue and w.start_after <= clock_timestamp());
         if chosen.id is null then return; end if;
         -- An attempt that ended before it had a job is none of the job's.
         update ${JOBS_SCHEMA}.job j
           set data = chosen.data, group_id = chosen.tenant, group_tier = chosen.share,
             singleton_key = chosen.singleton_key, retry_limit = j.retry_count + in_retries
           where j.name = in_queue and j.id = in_ticket and j.state = 'active';
         if not found then raise exception 'the ticket % is no longer that of its worker', in_ticket; end if;
         insert into ${JOBS_SCHEMA}.turns values (in_queue, chosen.tenant, clock_timestamp())
           on conflict (queue, tenant) do update set last_turn = excluded.last_turn;
         delete from ${JOBS_SCHEMA}.turns t
           where t.queue = in_queue and t.last_turn < clock_timestamp() - interval '1 hour';
         data := chosen.data;
         tenant := chosen.tenant;
         is_large := chosen.is_large;
       end $$`,
    `drop function ${JOBS_SCHEMA}.take_turn(text, uuid, integer)`,
  ],
};

/**
 * What an account has used counts half after this many seconds: a turn is worth what it costs, and is not held against
 * it for long.
 */
const HALF_LIFE_S = 60;

/**
 * The same line, with turns that go by what they cost: of those who have equally many running comes first who has used
 * the least lately, in seconds that its jobs had a worker. Else many accounts with dear jobs would have nearly all
 * workers.
 */
const TURNS_BY_USE: Migration = {
  name: '003-turns-by-use',
  up: [
    `alter table ${JOBS_SCHEMA}.turns add column used double precision not null default 0, add column used_at ` +
      `timestamptz not null default now()`,
    `comment on column ${JOBS_SCHEMA}.turns.used is 'seconds that jobs of the tenant had a worker, as they counted ` +
      `at used_at'`,
    // As powers grow too small for a number, nothing is left of it.
    `create function ${JOBS_SCHEMA}.used_lately(used double precision, used_at timestamptz) returns double precision
       language sql volatile
       as $$ select used * power(0.5, least(extract(epoch from clock_timestamp() - used_at) / ${HALF_LIFE_S}, 100)) $$`,
    `create or replace function ${JOBS_SCHEMA}.take_next(in_queue text, in_ticket uuid, in_most integer,
      in_large boolean, in_retries integer, out data jsonb, out tenant text, out is_large boolean, out waits boolean)
       language plpgsql volatile
       as $$ #variable_conflict use_column
       declare chosen ${JOBS_SCHEMA}.waiting; begin
         perform pg_advisory_xact_lock(hashtextextended(in_queue || ' turn', 0));
         with busy as materialized (
           select j.group_id as tenant, j.group_tier as share, count(*) as running from ${JOBS_SCHEMA}.job j
           where j.name = in_queue and j.state = 'active' and j.group_id is not null group by 1, 2),
         heads as (
           select distinct on (w.tenant, w.share, w.is_large) w.id, w.tenant, w.share, w.start_after, w.place
             from ${JOBS_SCHEMA}.waiting w
           where w.queue = in_queue and w.start_after <= clock_timestamp() and (in_large or not w.is_large)
           order by w.tenant, w.share, w.is_large, w.place),
         next as (
           select h.id from heads h left join ${JOBS_SCHEMA}.turns t on t.queue = in_queue and t.tenant = h.tenant
           where in_most is null or coalesce((select b.running from busy b
             where b.tenant = h.tenant and b.share = h.share), 0) < in_most
           -- Next to nothing is nothing: who has used about the same takes turns.
           order by coalesce((select sum(b.running) from busy b where b.tenant = h.tenant), 0),
             round(coalesce(${JOBS_SCHEMA}.used_lately(t.used, t.used_at), 0)::numeric, 1),
             greatest(t.last_turn, h.start_after - interval '${NEWCOMER_LEAD}'), h.place
           limit 1)
         delete from ${JOBS_SCHEMA}.waiting w where w.id = (select next.id from next) returning * into chosen;
         waits := chosen.id is not null or exists (select from ${JOBS_SCHEMA}.waiting w
           where w.queue = in_queue and w.start_after <= clock_timestamp());
         if chosen.id is null then return; end if;
         -- An attempt that ended before it had a job is none of the job's.
         update ${JOBS_SCHEMA}.job j
           set data = chosen.data, group_id = chosen.tenant, group_tier = chosen.share,
             singleton_key = chosen.singleton_key, retry_limit = j.retry_count + in_retries
           where j.name = in_queue and j.id = in_ticket and j.state = 'active';
         if not found then raise exception 'the ticket % is no longer that of its worker', in_ticket; end if;
         insert into ${JOBS_SCHEMA}.turns (queue, tenant, last_turn) values (in_queue, chosen.tenant, clock_timestamp())
           on conflict (queue, tenant) do update set last_turn = excluded.last_turn;
         delete from ${JOBS_SCHEMA}.turns t
           where t.queue = in_queue and t.last_turn < clock_timestamp() - interval '1 hour';
         data := chosen.data;
         tenant := chosen.tenant;
         is_large := chosen.is_large;
       end $$`,
  ],
};

/** Who comes goes before whoever was served within this time. */
const LEAD = '5 seconds';
/** So much later does an account come for each second that it has used lately, and at the most. */
const USE = { s: 2, most: 6 };
/** So much later for each job that waits beyond those which may run at a time, and at the most. */
const CROWD = { s: 2, most: 20 };

/**
 * The same line, in the order of time: who has waited for longest goes first, and use lately makes an account come
 * later by a few seconds, no more. Where use alone decided, every account that was new to the line went before whoever
 * had worked a minute ago. An account with nothing running waits for the sum of these times, and one job of each other
 * account, at the most.
 */
const TURNS_BY_TIME: Migration = {
  name: '004-turns-by-time',
  up: [
    `create or replace function ${JOBS_SCHEMA}.take_next(in_queue text, in_ticket uuid, in_most integer,
      in_large boolean, in_retries integer, out data jsonb, out tenant text, out is_large boolean, out waits boolean)
       language plpgsql volatile
       as $$ #variable_conflict use_column
       declare chosen ${JOBS_SCHEMA}.waiting; begin
         perform pg_advisory_xact_lock(hashtextextended(in_queue || ' turn', 0));
         with busy as materialized (
           select j.group_id as tenant, j.group_tier as share, count(*) as running from ${JOBS_SCHEMA}.job j
           where j.name = in_queue and j.state = 'active' and j.group_id is not null group by 1, 2),
         heads as (
           select distinct on (w.tenant, w.share, w.is_large) w.id, w.tenant, w.share, w.start_after, w.place
             from ${JOBS_SCHEMA}.waiting w
           where w.queue = in_queue and w.start_after <= clock_timestamp() and (in_large or not w.is_large)
           order by w.tenant, w.share, w.is_large, w.place),
         crowds as (
           select w.tenant, w.share, count(*) as waiting from ${JOBS_SCHEMA}.waiting w
           where w.queue = in_queue and w.start_after <= clock_timestamp() group by 1, 2),
         next as (
           select h.id from heads h join crowds c on c.tenant = h.tenant and c.share = h.share
           left join ${JOBS_SCHEMA}.turns t on t.queue = in_queue and t.tenant = h.tenant
           where in_most is null or coalesce((select b.running from busy b
             where b.tenant = h.tenant and b.share = h.share), 0) < in_most
           order by coalesce((select sum(b.running) from busy b where b.tenant = h.tenant), 0),
             greatest(t.last_turn, h.start_after - interval '${LEAD}')
             -- Next to nothing is nothing: who has used about the same takes turns.
             + interval '1 second' * (
               least(${USE.most},
                 ${USE.s} * round(coalesce(${JOBS_SCHEMA}.used_lately(t.used, t.used_at), 0)::numeric, 1))
               + least(${CROWD.most}, ${CROWD.s} * greatest(0, c.waiting - coalesce(in_most, c.waiting)))),
             h.place
           limit 1)
         delete from ${JOBS_SCHEMA}.waiting w where w.id = (select next.id from next) returning * into chosen;
         waits := chosen.id is not null or exists (select from ${JOBS_SCHEMA}.waiting w
           where w.queue = in_queue and w.start_after <= clock_timestamp());
         if chosen.id is null then return; end if;
         -- An attempt that ended before it had a job is none of the job's.
         update ${JOBS_SCHEMA}.job j
           set data = chosen.data, group_id = chosen.tenant, group_tier = chosen.share,
             singleton_key = chosen.singleton_key, retry_limit = j.retry_count + in_retries
           where j.name = in_queue and j.id = in_ticket and j.state = 'active';
         if not found then raise exception 'the ticket % is no longer that of its worker', in_ticket; end if;
         insert into ${JOBS_SCHEMA}.turns (queue, tenant, last_turn) values (in_queue, chosen.tenant, clock_timestamp())
           on conflict (queue, tenant) do update set last_turn = excluded.last_turn;
         delete from ${JOBS_SCHEMA}.turns t
           where t.queue = in_queue and t.last_turn < clock_timestamp() - interval '1 hour';
         data := chosen.data;
         tenant := chosen.tenant;
         is_large := chosen.is_large;
       end $$`,
  ],
};

/** pg-boss brings its tables itself, as the owner; the application only reads and writes rows. */
export const jobsOwner: MigrationOwner = {
  schema: JOBS_SCHEMA,
  migrations: [
    {
      name: '001-turns',
      up: [
        // pg-boss limits groups when it fetches, but two workers that fetch in the same moment both see room. A turn is
        // taken under a lock and marked in the job, for this attempt; a job that ends, or whose worker died, holds
        // none.
        `create function ${JOBS_SCHEMA}.take_turn(in_name text, in_job uuid, in_most integer) returns boolean
           language plpgsql volatile
           as $$ declare mine record; begin
             select group_id, retry_count into mine from ${JOBS_SCHEMA}.job
               where name = in_name and id = in_job and state = 'active';
             if mine.group_id is null then return true; end if;
             perform pg_advisory_xact_lock(hashtextextended(in_name || ' turn ' || mine.group_id, 0));
             if (select count(*) from ${JOBS_SCHEMA}.job
               where name = in_name and group_id = mine.group_id and state = 'active' and id <> in_job
                   and output ->> 'turn' = retry_count::text) >= in_most then return false; end if;
             update ${JOBS_SCHEMA}.job set output = jsonb_build_object('turn', mine.retry_count)
               where name = in_name and id = in_job;
             return true;
           end $$`,
      ],
    },
    FAIR_LINES,
    TURNS_BY_USE,
    TURNS_BY_TIME,
  ],
  install: async (ownerUrl) => {
    const boss = new PgBoss({
      connectionString: ownerUrl,
      schema: JOBS_SCHEMA,
      createSchema: false,
      supervise: false,
      schedule: false,
      max: 1,
    });
    const failures: Error[] = [];
    boss.on('error', (error) => failures.push(error));
    await boss.start();
    await boss.stop({ graceful: false });
    if (failures.length > 0) throw new AggregateError(failures, 'the tables of the job queue could not be made');
  },
};
