import { Client } from 'pg';
import { SANDBOX_ACCOUNT_ID } from '../sandbox-sources.ts';

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
  if (!TABLE_NAME.test(table)) throw new TypeError(`"${table}" is no schema-qualified table name`);
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (${OF_ACCOUNT}) with check (${OF_ACCOUNT})`,
    `create policy owner on ${table} to current_user using (true) with check (true)`,
  ];
}

/**
 * Narrows the policy of a tenant table with an `environment` column to the rows of the transaction's environment. They belong
 * behind {@link tenantTable}; a forgotten scope shows nothing.
 */
export function environmentTable(table: string): string[] {
  if (!TABLE_NAME.test(table)) throw new TypeError(`"${table}" is no schema-qualified table name`);
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
  if (!TABLE_NAME.test(table)) throw new TypeError(`"${table}" is no schema-qualified table name`);
  return [`create policy sandbox on ${table} for select using (account_id = '${SANDBOX_ACCOUNT_ID}'::uuid and environment = 'sandbox' and ${OF_ENVIRONMENT})`];
}

/** Tables and partitions with an `account_id` column where row level security is not enabled, not forced, or without our policy. */
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
            and pg_get_expr(p.polqual, p.polrelid) like '((account_id = ''${SANDBOX_ACCOUNT_ID}''::uuid) AND (environment = ''sandbox''::text) AND %')))
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
