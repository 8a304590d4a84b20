import type { MigrationOwner } from '../../platform/postgres/migrate.ts';

/** SQLSTATE of an attempt that settles a claim which is another attempt's by now. */
export const TAKEN_OVER = 'LG001';

/**
 * Owner `idempotency`: the claims of the last day on idempotency keys. Nothing in a row can be read without the
 * client's key: the id is keyed, effect and answer are sealed. Claims are taken before a tenant is known to the
 * database, so they are reached through SECURITY DEFINER functions only, each one statement for its caller.
 *
 * A claim belongs to the attempt that took it last. An attempt is fenced by its id: whoever takes over an expired lease
 * replaces the id, so that whatever the former owner still tries fits no row any more. All times are the database's.
 */
export const idempotencyOwner: MigrationOwner = {
  schema: 'idempotency',
  migrations: [
    {
      name: '001-claims',
      up: [
        `create table idempotency.claims (
           id bytea primary key,
           fingerprint bytea not null,
           attempt_id uuid not null,
           lease_until timestamptz not null,
           awaited boolean not null default false,
           effect bytea,
           answer bytea,
           claimed_at timestamptz not null default clock_timestamp()
         ) with (fillfactor = 70)`,
        `comment on column idempotency.claims.awaited is 'somebody waits for the end of this attempt and ` +
          `wants to be told'`,
        `comment on column idempotency.claims.effect is 'what was committed for this key, in the transaction that ` +
          `committed it'`,
        `create index claims_claimed_at on idempotency.claims (claimed_at)`,
        `revoke all on idempotency.claims from liftgraph_app`,

        `create function idempotency.is_over(of_claim idempotency.claims) returns boolean
           language sql volatile
           as $$ select of_claim.claimed_at <= clock_timestamp() - interval '24 hours'
             and of_claim.lease_until <= clock_timestamp() $$`,

        // A live claim of somebody else is left alone; taking over needs the same request, and keeps its effect.
        `create function idempotency.take(in_id bytea, in_fingerprint bytea, in_attempt uuid, in_lease_ms integer)
           returns table (state text, effect bytea, answer bytea, lease_left_ms integer)
           language plpgsql volatile security definer set search_path = idempotency, pg_temp
           as $$
             #variable_conflict use_column
             declare held idempotency.claims;
             begin
               loop
                 insert into idempotency.claims as mine (id, fingerprint, attempt_id, lease_until)
                   values (in_id, in_fingerprint, in_attempt,
                     clock_timestamp() + in_lease_ms * interval '1 millisecond')
                   on conflict (id) do update set
                     fingerprint = excluded.fingerprint, attempt_id = excluded.attempt_id,
                       lease_until = excluded.lease_until, awaited = false, answer = null,
                     effect = case when idempotency.is_over(mine) then null else mine.effect end,
                     claimed_at = case when idempotency.is_over(mine) then clock_timestamp() else mine.claimed_at end
                   where idempotency.is_over(mine)
                      or (mine.answer is null and mine.lease_until <= clock_timestamp()
                        and mine.fingerprint = excluded.fingerprint)
                   returning * into held;
                 if found then
                   return query select 'taken', held.effect, null::bytea, in_lease_ms;
                   return;
                 end if;
                 select * into held from idempotency.claims where id = in_id;
                 -- Given up since the insert met it: try again.
                 continue when not found;
                 if held.fingerprint <> in_fingerprint then
                   return query select 'conflict', null::bytea, null::bytea, 0;
                 elsif held.answer is not null then
                   return query select 'answered', null::bytea, held.answer, 0;
                 else
                   update idempotency.claims set awaited = true
                     where id = in_id and attempt_id = held.attempt_id and answer is null and not awaited;
                   return query select 'running', null::bytea, null::bytea,
                     greatest(0, ceil(extract(epoch from held.lease_until - clock_timestamp()) * 1000))::integer;
                 end if;
                 return;
               end loop;
             end $$`,

        `create function idempotency.renew(in_id bytea, in_attempt uuid, in_lease_ms integer) returns boolean
           language plpgsql volatile security definer set search_path = idempotency, pg_temp
           as $$ begin
             update idempotency.claims set lease_until = clock_timestamp() + in_lease_ms * interval '1 millisecond'
               where id = in_id and attempt_id = in_attempt and answer is null;
             return found;
           end $$`,

        // Part of the transaction that has the effect: the row stays locked until that one ends, so nobody takes over
        // in between.
        `create function idempotency.settle(in_id bytea, in_attempt uuid, in_effect bytea) returns boolean
           language plpgsql volatile security definer set search_path = idempotency, pg_temp
           as $$ begin
             update idempotency.claims set effect = in_effect
               where id = in_id and attempt_id = in_attempt and answer is null;
             return found;
           end $$`,

        `create function idempotency.effect_of(in_id bytea, in_attempt uuid) returns bytea
           language sql stable security definer set search_path = idempotency, pg_temp
           as $$ select effect from idempotency.claims where id = in_id and attempt_id = in_attempt $$`,

        `create function idempotency.tell_waiting(in_id bytea) returns void
           language sql volatile
           as $$ select pub_sub.send('idempotency.' || encode(in_id, 'hex'), 'null'::jsonb) $$`,

        // Null when it was kept; else the answer that another attempt gave, empty while there is none.
        `create function idempotency.keep(in_id bytea, in_attempt uuid, in_answer bytea) returns bytea
           language plpgsql volatile security definer set search_path = idempotency, pg_temp
           as $$
             declare was_awaited boolean;
             begin
               update idempotency.claims set answer = in_answer, lease_until = clock_timestamp()
                 where id = in_id and attempt_id = in_attempt and answer is null
                 returning awaited into was_awaited;
               if not found then
                 return coalesce((select answer from idempotency.claims where id = in_id), ''::bytea);
               end if;
               if was_awaited then perform idempotency.tell_waiting(in_id); end if;
               return null;
             end $$`,

        // Without an effect nothing has happened under this key, whoever comes next may use it for anything.
        `create function idempotency.give_up(in_id bytea, in_attempt uuid) returns void
           language plpgsql volatile security definer set search_path = idempotency, pg_temp
           as $$
             declare was_awaited boolean;
             begin
               delete from idempotency.claims where id = in_id and attempt_id = in_attempt and answer is null
                 and effect is null returning awaited into was_awaited;
               if not found then
                 update idempotency.claims set lease_until = clock_timestamp()
                   where id = in_id and attempt_id = in_attempt and answer is null
                   returning awaited into was_awaited;
               end if;
               if was_awaited then perform idempotency.tell_waiting(in_id); end if;
             end $$`,

        `create function idempotency.forget_old_claims() returns bigint
           language sql volatile security definer set search_path = idempotency, pg_temp
           as $$ with gone as (delete from idempotency.claims as old
             where old.claimed_at <= clock_timestamp() - interval '24 hours' and old.lease_until <= clock_timestamp()
               returning 1)
                 select count(*) from gone $$`,
      ],
    },
    {
      name: '002-fewer-round-trips',
      up: [
        // Travels with COMMIT, so that nobody is there to look at an answer: what it raises keeps the transaction from
        // committing.
        `create function idempotency.settle_or_raise(in_id bytea, in_attempt uuid, in_effect bytea) returns void
           language plpgsql volatile security definer set search_path = idempotency, pg_temp
           as $$ begin
             if not idempotency.settle(in_id, in_attempt, in_effect) then
               raise exception 'another attempt has taken over' using errcode = '${TAKEN_OVER}';
             end if;
           end $$`,

        // Attempts whose keys were unknown, and are taken by them now; whatever is known is left to idempotency.take.
        // Waits for nobody but those who are inserting the same keys, and for them in one order. The commit is not
        // waited for: WAL is written in order, so that a claim is durable with the effect or the answer that is
        // recorded on it; one that a crash forgot fits no attempt, which then settles nothing.
        `create function idempotency.take_unknown(in_ids bytea[], in_fingerprints bytea[], in_attempts uuid[],
          in_lease_ms integer) returns setof uuid
           language plpgsql volatile security definer set search_path = idempotency, pg_temp
           as $$ begin
             perform set_config('synchronous_commit', 'off', true);
             return query
               insert into idempotency.claims as mine (id, fingerprint, attempt_id, lease_until)
               select g.id, g.fingerprint, g.attempt_id, clock_timestamp() + in_lease_ms * interval '1 millisecond'
               from unnest(in_ids, in_fingerprints, in_attempts) as g(id, fingerprint, attempt_id) order by g.id
               on conflict (id) do nothing
               returning mine.attempt_id;
           end $$`,

        // For each of them what idempotency.keep says; one commit for all.
        `create function idempotency.keep_all(in_ids bytea[], in_attempts uuid[], in_answers bytea[])
          returns setof bytea
           language plpgsql volatile security definer set search_path = idempotency, pg_temp
           as $$ begin
             for place in 1 .. cardinality(in_ids) loop
               return next idempotency.keep(in_ids[place], in_attempts[place], in_answers[place]);
             end loop;
           end $$`,
      ],
    },
  ],
};
