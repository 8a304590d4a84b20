import { Client } from 'pg';
import { SANDBOX_ACCOUNT_ID } from '../../schema/sandbox-sources.ts';

const TABLE_NAME = /^[a-z_]+\.[a-z_0-9]+$/;
const OF_ACCOUNT = `account_id = nullif(current_setting('liftgraph.account_id', true), '')::uuid`;
const OF_ENVIRONMENT = `environment = current_setting('liftgraph.environment', true)`;

/**
 * The statements that close a table with an `account_id uuid` column to everyone but its tenant. They belong in the
 * migration that creates the table.
 *
 * FORCE binds the owner too; the second policy lets it through openly, because the owner's SECURITY DEFINER functions
 * look up keys and tokens before a tenant is known, and because backfills run as the owner.
 * @param table schema-qualified, e.g. `attribution.data_sources`
 */
export function tenantTable(table: string): string[] {
  if (!TABLE_NAME.test(table)) throw new TypeError(`"${table}" is not a schema-qualified table name`);
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (${OF_ACCOUNT}) with check (${OF_ACCOUNT})`,
    `create policy owner on ${table} to current_user using (true) with check (true)`,
  ];
}

/**
 * Narrows the policy of a tenant table with an `environment` column to the rows of the transaction's environment. They
 * belong behind {@link tenantTable}; a forgotten scope shows nothing.
 */
export function environmentTable(table: string): string[] {
  if (!TABLE_NAME.test(table)) throw new TypeError(`"${table}" is not a schema-qualified table name`);
  const ownRows = `${OF_ACCOUNT} and ${OF_ENVIRONMENT}`;
  return [`alter policy tenant on ${table} using (${ownRows}) with check (${ownRows})`];
}

/** What the column of such a table holds where an insert names nothing: the environment of the transaction. */
export const ENVIRONMENT_DEFAULT = `nullif(current_setting('liftgraph.environment', true), '')`;

/**
 * Lets every tenant of the sandbox read, and only read, the rows of the sandbox's own account. Belongs behind
 * {@link environmentTable}.
 */
export function sharedInSandbox(table: string): string[] {
  if (!TABLE_NAME.test(table)) throw new TypeError(`"${table}" is not a schema-qualified table name`);
  return [
    `create policy sandbox on ${table} for select using (account_id = '${SANDBOX_ACCOUNT_ID}'::uuid and environment ` +
      `= 'sandbox' and ${OF_ENVIRONMENT})`,
  ];
}

/**
 * The rows of the workspace that the transaction acts in, or all of them; for tables with a `workspace_id uuid` column.
 */
export const IN_WORKSPACE = `current_setting('liftgraph.workspace_id', true) in ('*', workspace_id::text)`;

/**
 * The statement that narrows the policy of a tenant table by a further condition on its rows, whatever it says already.
 * It belongs behind {@link tenantTable} and {@link environmentTable}.
 */
export function narrowTenant(table: string, condition: string): string {
  if (!TABLE_NAME.test(table)) throw new TypeError(`"${table}" is not a schema-qualified table name`);
  return `
    do $narrow$ declare so_far record; begin
      select pg_get_expr(polqual, polrelid) as shown, pg_get_expr(polwithcheck, polrelid) as taken into strict so_far
        from pg_policy where polrelid = '${table}'::regclass and polname = 'tenant';
      execute format('alter policy tenant on ${table} using (%s and (%s)) with check (%s and (%s))', so_far.shown,
        $c$${condition}$c$, so_far.taken, $c$${condition}$c$);
    end $narrow$`;
}

/** What a policy says that asks for the workspace, or for the row of another table that is under its own policy. */
const NARROWED = String.raw`liftgraph\.workspace_id|EXISTS \(`;

/**
 * Tables and partitions with an `account_id` column where row level security is not enabled, not forced, or without our
 * policy; those whose `environment` or `workspace_id` column it does not compare; and those of an environment, or that
 * refer to one, whose policy asks neither for the workspace nor for the row that they hang on.
 */
const UNPROTECTED_SQL = `
  select format('%I.%I', n.nspname, c.relname) as name
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
  where c.relkind in ('r', 'p', 'f')
    and n.nspname not in ('pg_catalog', 'information_schema')
    and not (
      c.relrowsecurity and c.relforcerowsecurity
      and exists (
        select from pg_policy p
        where p.polrelid = c.oid and p.polname = 'tenant' and p.polroles = '{0}' and p.polcmd = '*'
          and pg_get_expr(p.polqual, p.polrelid) like '%liftgraph.account_id%'
          and pg_get_expr(p.polwithcheck, p.polrelid) like '%liftgraph.account_id%')
      and not exists (
        select from pg_policy p
        where p.polrelid = c.oid and p.polname <> 'tenant' and p.polpermissive
          and p.polroles <> array[c.relowner]
          and not (p.polname = 'sandbox' and p.polcmd = 'r'
            and pg_get_expr(p.polqual, p.polrelid) like
              '((account_id = ''${SANDBOX_ACCOUNT_ID}''::uuid) AND (environment = ''sandbox''::text) AND %'))
      -- Tables of the account as such may name a workspace or an environment; they hold no rows of theirs.
      and (n.nspname in ('auth', 'events') or not exists (
        select from (values ('workspace_id', '%liftgraph.workspace_id%'), ('environment', '%liftgraph.environment%'))
          narrow (name, setting)
        join pg_attribute w on w.attrelid = c.oid and w.attname = narrow.name and not w.attisdropped
        join pg_policy p on p.polrelid = c.oid and p.polname = 'tenant'
        where pg_get_expr(p.polqual, p.polrelid) not like narrow.setting
          or pg_get_expr(p.polwithcheck, p.polrelid) not like narrow.setting))
      and (n.nspname in ('auth', 'events') or not exists (
        select from pg_attribute e
        join pg_policy p on p.polrelid = c.oid and p.polname = 'tenant'
        where e.attname = 'environment' and not e.attisdropped
          and e.attrelid in (select c.oid union all
            select confrelid from pg_constraint where conrelid = c.oid and contype = 'f')
          and (pg_get_expr(p.polqual, p.polrelid) !~ '${NARROWED}'
            or pg_get_expr(p.polwithcheck, p.polrelid) !~ '${NARROWED}'))))
  order by 1`;

/** The tables of a migrated database that one tenant could read of another; has to be empty. */
export async function findUnprotectedTables(ownerUrl: string): Promise<string[]> {
  const client = new Client({ connectionString: ownerUrl, application_name: 'liftgraph-audit' });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(UNPROTECTED_SQL);
    return rows.map((row) => row.name);
  } finally {
    await client.end();
  }
}
