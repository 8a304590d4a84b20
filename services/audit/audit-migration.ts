import type { Migration } from '../../platform/postgres/migrate.ts';
import { tenantTable } from '../../platform/postgres/tenant-tables.ts';

const GENESIS = `'sha256:' || repeat('0', 64)`;
/** The chain of what belongs to no tenant. */
export const INSTALLATION_CHAIN = '00000000-0000-0000-0000-000000000000';
const CHAIN_OF_EVENT = `coalesce(tenant_id, '${INSTALLATION_CHAIN}')`;
/** Moments are compared as text: all are RFC 3339 in UTC with milliseconds. */
const MATCHES = `e.account_id = nullif(current_setting('liftgraph.account_id', true), '')::uuid
           and (in_type is null or e.entry::jsonb ->> 'event_type' = in_type)
           and (in_severity is null or e.entry::jsonb ->> 'severity' = in_severity)
           and (in_since is null or (e.entry::jsonb ->> 'occurred_at') collate "C" >= in_since)
           and (in_actor is null or e.entry::jsonb #>> '{actor,id}' = in_actor)
           and (in_before is null or e.sequence < in_before)
           and (in_environment is null or e.entry::jsonb ->> 'environment' = in_environment)`;
const DEFINER = 'security definer set search_path = events, pg_temp';

/**
 * The sealed log: one chain per tenant, and one of the installation under the nil UUID. A row holds nothing that its
 * hash does not cover. Tenants read their own rows; every writer is a function here that checks what it writes.
 */
export const AUDIT_CHAIN: Migration = {
  name: '002-audit-chain',
  up: [
    `drop index events.told_audit_events_order`,
    // Several may occur in one millisecond.
    `alter table events.told_audit_events add column place bigint generated always as identity`,
    `create index told_audit_events_order on events.told_audit_events (${CHAIN_OF_EVENT}, occurred_at, place)`,

    `create table events.audit_chains (
       account_id uuid primary key,
       sequence bigint not null default 0 check (sequence >= 0),
       hash text not null default ${GENESIS},
       signed_sequence bigint not null default 0,
       unsigned_since timestamptz
     )`,
    `comment on table events.audit_chains is 'the head of every chain; its row is the lock under which ` +
      `the chain grows'`,
    ...tenantTable('events.audit_chains'),
    `create index audit_chains_unsigned on events.audit_chains (unsigned_since) where unsigned_since is not null`,

    `create table events.audit_entries (
       account_id uuid not null,
       sequence bigint not null check (sequence > 0),
       entry text not null,
       hash text not null,
       primary key (account_id, sequence)
     )`,
    `comment on column events.audit_entries.entry is 'canonical JSON (RFC 8785), exactly the bytes that are hashed'`,
    ...tenantTable('events.audit_entries'),
    `create index audit_entries_type on events.audit_entries (account_id, ((entry::jsonb) ->> ` +
      `'event_type'), sequence)`,
    `create index audit_entries_severity on events.audit_entries (account_id, ((entry::jsonb) ->> 'severity'), ` +
      `sequence)`,
    `create index audit_entries_moment on events.audit_entries (account_id, ((entry::jsonb ->> 'occurred_at') ` +
      `collate "C"))`,
    `create index audit_entries_actor on events.audit_entries (account_id, ((entry::jsonb) #>> ` +
      `'{actor,id}'), sequence)`,

    // The addresses behind the hashes of the entries; they are coarsened later, which a chained row could not be.
    `create table events.audit_addresses (
       account_id uuid not null,
       sequence bigint not null,
       address inet not null,
       occurred_at timestamptz not null,
       coarse boolean not null default false,
       primary key (account_id, sequence)
     )`,
    ...tenantTable('events.audit_addresses'),
    `create index audit_addresses_exact on events.audit_addresses (occurred_at) where not coarse`,

    `create table events.audit_segments (
       account_id uuid not null,
       first_sequence bigint not null,
       last_sequence bigint not null check (last_sequence >= first_sequence),
       last_hash text not null,
       last_occurred_at timestamptz not null,
       file_name text not null,
       archived_at timestamptz not null default now(),
       primary key (account_id, first_sequence)
     )`,
    `comment on table events.audit_segments is 'entries that were moved into files of the archive'`,
    ...tenantTable('events.audit_segments'),

    `create table events.told_accesses (
       subject text not null,
       hour timestamptz not null,
       primary key (subject, hour)
     )`,
    `comment on table events.told_accesses is 'accesses that were told already: one per caller, resource and hour'`,

    `revoke insert, update, delete, truncate on events.audit_chains, events.audit_entries, events.audit_addresses, ` +
      `events.audit_segments from liftgraph_app`,
    `revoke all on events.told_accesses from liftgraph_app`,

    `create function events.refuse_change() returns trigger language plpgsql as $$
       begin
         if tg_op = 'DELETE' and current_setting('liftgraph.archiving', true) = old.account_id::text then return
           old; end if;
         raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
       end $$`,
    `create trigger append_only before update or delete on events.audit_entries for each row execute function ` +
      `events.refuse_change()`,
    `create trigger append_only_whole before truncate on events.audit_entries for each statement execute function ` +
      `events.refuse_change()`,

    `create function events.chains_with_told_events(in_limit int) returns setof uuid
       language sql stable ${DEFINER}
       as $$ select distinct ${CHAIN_OF_EVENT} from events.told_audit_events limit in_limit $$`,

    // The number and hash that the next entry goes behind. A head that was set back does not make two entries of one
    // number.
    `create function events.audit_head(in_chain uuid) returns table (sequence bigint, hash text)
       language sql stable ${DEFINER}
       as $$ select sequence, hash from (
               select c.sequence, c.hash, 1 as preference from audit_chains c where c.account_id = in_chain
               union all
               (select e.sequence, e.hash, 2 from audit_entries e
                 where e.account_id = in_chain order by e.sequence desc limit 1)
             ) heads order by sequence desc, preference limit 1 $$`,

    // What waits for its place in a chain, in the order of occurrence. Holds the chain until the transaction ends.
    `create function events.begin_audit_seal(in_chain uuid, in_limit int)
       returns table (head_sequence bigint, head_hash text, event_id uuid, body jsonb, client_address text,
         occurred_at timestamptz)
       language plpgsql volatile ${DEFINER} as $$
       #variable_conflict use_column
       begin
         if not exists (select from told_audit_events t where ${CHAIN_OF_EVENT} = in_chain) then return; end if;
         insert into audit_chains (account_id) values (in_chain) on conflict do nothing;
         perform from audit_chains c where c.account_id = in_chain for update;
         return query
           select head.sequence, head.hash, t.event_id, t.body, t.client_address, t.occurred_at
           from told_audit_events t, events.audit_head(in_chain) head
           where ${CHAIN_OF_EVENT} = in_chain
           order by t.occurred_at, t.place limit in_limit;
       end $$`,

    // Takes entries for events that wait and for nothing else, directly behind the head, with the hash that they have.
    `create function events.finish_audit_seal(in_chain uuid, in_entries jsonb) returns void
       language plpgsql volatile ${DEFINER} as $$
       declare
         head record;
         wrong bigint;
         taken bigint;
       begin
         perform from audit_chains c where c.account_id = in_chain for update;
         select h.sequence, h.hash into head from events.audit_head(in_chain) h;
         select count(*) into wrong
         from (select sequence, entry, hash, row_number() over links as place,
           coalesce(lag(hash) over links, head.hash) as previous_hash
               from jsonb_to_recordset(in_entries) as e(event_id uuid, sequence bigint, entry text, hash text)
               window links as (order by sequence)) link
         where sequence <> head.sequence + place
            or hash <> 'sha256:' || encode(sha256(convert_to(previous_hash || chr(10) || entry, 'UTF8')), 'hex');
         if wrong > 0 then raise exception '% of these entries do not continue the chain', wrong
           using errcode = 'integrity_constraint_violation'; end if;

         with sealed as (
           delete from told_audit_events t using jsonb_to_recordset(in_entries) as e(event_id uuid, sequence bigint)
           where t.event_id = e.event_id and ${CHAIN_OF_EVENT} = in_chain
           returning e.sequence, t.client_address, t.occurred_at
         ), addressed as (
           insert into audit_addresses (account_id, sequence, address, occurred_at)
           select in_chain, sequence, client_address::inet, occurred_at from sealed
             where pg_input_is_valid(client_address, 'inet')
         )
         select count(*) into taken from sealed;
         if taken <> jsonb_array_length(in_entries) then raise exception 'an entry stands for no event that waits'
           using errcode = 'integrity_constraint_violation'; end if;

         insert into audit_entries (account_id, sequence, entry, hash)
         select in_chain, sequence, entry, hash
           from jsonb_to_recordset(in_entries) as e(sequence bigint, entry text, hash text);
         update audit_chains c set sequence = last.sequence, hash = last.hash,
           unsigned_since = coalesce(c.unsigned_since, clock_timestamp())
         from (select sequence, hash from jsonb_to_recordset(in_entries) as e(sequence bigint, hash text)
           order by sequence desc limit 1) last
         where c.account_id = in_chain;
       end $$`,

    // Row level security keeps conditions on the inside of an entry away from its indexes (they are not leakproof), so
    // these two look with the owner's eyes, but at nothing except the tenant that the session is for.
    `create function events.audit_entries_of_session(in_type text, in_severity text, in_since text, in_actor text,
      in_before bigint, in_environment text, in_limit bigint, in_offset bigint)
       returns table (sequence bigint, entry text, hash text)
       language plpgsql stable ${DEFINER} set plan_cache_mode = force_custom_plan as $$
       begin
         return query select e.sequence, e.entry, e.hash from audit_entries e
           where ${MATCHES} order by e.sequence desc limit in_limit offset in_offset;
       end $$`,
    `create function events.count_audit_entries_of_session(in_type text, in_severity text, in_since text, in_actor text,
      in_before bigint, in_environment text) returns bigint
       language plpgsql stable ${DEFINER} set plan_cache_mode = force_custom_plan as $$
       begin
         return (select count(*) from audit_entries e where ${MATCHES});
       end $$`,

    // Heads that are due to be signed: after so many entries, or so long after the first that is not covered.
    `create function events.claim_unsigned_heads(in_entries bigint, in_age interval, in_limit int)
       returns table (chain_id uuid, sequence bigint, hash text)
       language sql volatile ${DEFINER}
       as $$ select account_id, sequence, hash from audit_chains
             where unsigned_since is not null
               and (sequence - signed_sequence >= in_entries or unsigned_since <= clock_timestamp() - in_age)
             order by unsigned_since limit in_limit for update skip locked $$`,
    `create function events.record_signed_head(in_chain uuid, in_sequence bigint) returns void
       language sql volatile ${DEFINER}
       as $$ update audit_chains set signed_sequence = in_sequence, unsigned_since = case
         when sequence > in_sequence then clock_timestamp() end
             where account_id = in_chain $$`,
    `create function events.audit_hash_at(in_chain uuid, in_sequence bigint) returns text
       language sql stable ${DEFINER}
       as $$ select hash from audit_entries where account_id = in_chain and sequence = in_sequence $$`,

    // For the owner alone: entries leave the table only when a file holds them, from the first that is left on, and
    // never the head that was signed last.
    `create function events.archive_audit_entries(in_chain uuid, in_first bigint, in_last bigint, in_last_hash text,
      in_file text) returns void
       language plpgsql volatile ${DEFINER} as $$
       declare
         chain record;
         gone bigint;
       begin
         select * into chain from audit_chains c where c.account_id = in_chain for update;
         if in_last >= chain.signed_sequence then raise exception
           'only entries before the last signed head can be archived'; end if;
         if in_first <> (select coalesce(max(last_sequence), 0) + 1 from audit_segments
           where account_id = in_chain) then raise exception 'segments follow one another'; end if;
         if in_last_hash is distinct from (select hash from audit_entries
           where account_id = in_chain and sequence = in_last) then raise exception
             'the file does not end where the segment ends'; end if;
         insert into audit_segments (account_id, first_sequence, last_sequence, last_hash, last_occurred_at, file_name)
         select in_chain, in_first, in_last, in_last_hash, max((entry::jsonb ->> 'occurred_at')::timestamptz), in_file
         from audit_entries where account_id = in_chain and sequence between in_first and in_last;
         perform set_config('liftgraph.archiving', in_chain::text, true);
         delete from audit_entries where account_id = in_chain and sequence between in_first and in_last;
         get diagnostics gone = row_count;
         perform set_config('liftgraph.archiving', '', true);
         if gone <> in_last - in_first + 1 then raise exception 'the segment has gaps'; end if;
       end $$`,
    `revoke execute on function events.archive_audit_entries from public`,

    `create function events.tell_access_once(in_event uuid, in_tenant uuid, in_body jsonb, in_address text,
      in_subject text) returns void
       language plpgsql volatile ${DEFINER} as $$
       begin
         insert into told_accesses (subject, hour) values (in_subject, date_trunc('hour', clock_timestamp()))
           on conflict do nothing;
         if found then perform record_audit_event(in_event, in_tenant, in_body, in_address); end if;
       end $$`,
    `create function events.forget_old_accesses() returns bigint
       language sql volatile ${DEFINER}
       as $$ with gone as (delete from told_accesses where hour < now() - interval '2 hours' returning 1)
         select count(*) from gone $$`,
    `create function events.coarsen_old_addresses() returns bigint
       language sql volatile ${DEFINER}
       as $$ with coarsened as (
               update audit_addresses set coarse = true,
                 address = network(set_masklen(address, case family(address) when 4 then 24 else 48 end))::inet
               where not coarse and occurred_at < now() - interval '90 days' returning 1)
             select count(*) from coarsened $$`,
  ],
};
