import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { APPLICATION_ROLE } from './application-role.ts';
import { outageAsProblem } from './outage.ts';

/** One step forward, applied in a transaction of its own, once. What was applied anywhere must never change. */
export interface Migration {
  /** Sorts nothing, names the step forever: `001-data-sources`. */
  readonly name: string;
  readonly up: readonly string[];
}

/** A room with tables: it has one PostgreSQL schema, and nobody else writes there. */
export interface MigrationOwner {
  readonly schema: string;
  readonly migrations: readonly Migration[];
  /** For a library that migrates tables of its own in this schema; runs under the same lock, as the schemas' owner. */
  readonly install?: (ownerUrl: string) => Promise<void>;
}

export interface MigrateOptions {
  /** Of the role that owns the schemas. */
  readonly ownerUrl: string;
  readonly owners: readonly MigrationOwner[];
}

/** A migration failed, was changed after it had been applied, or has an owner whose name is not a schema. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly code = 'migration_failed';
}

/** Any constant will do, as long as every process of ours takes the same one: 'lift' in ASCII. */
const LOCK_KEY = 0x6c_69_66_74;
const SCHEMA_NAME = /^[a-z][a-z_]{1,40}$/;

/**
 * Brings every owner's schema up to date. Any number of processes may call this at once: one works, the others
 * wait and find nothing left to do.
 * @returns the names of the migrations that this call applied, as `schema/name`
 * @throws ProblemError `service_unavailable` when the server cannot be reached
 * @throws MigrationError when a step fails (it leaves no trace) or an applied step was changed since
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const client = new Client({
    connectionString: options.ownerUrl,
    application_name: 'liftgraph-migrate',
    keepAlive: true,
  });
  // A connection lost between two statements is reported by the next one.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    throw outageAsProblem(error);
  });
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    await ensureApplicationRole(client);
    const applied: string[] = [];
    for (const owner of options.owners) applied.push(...(await migrateOwner(client, owner, options.ownerUrl)));
    return applied;
  } finally {
    // The lock belongs to the session and ends with it.
    await client.end();
  }
}

async function ensureApplicationRole(client: Client): Promise<void> {
  // Roles belong to the server: a migration of another database may create the same one at this moment. Who creates it
  // may become it, for servers with a single login; where an administrator made it, its logins are theirs to grant.
  await client.query(`
    do $$ begin
      if not exists (select from pg_roles where rolname = '${APPLICATION_ROLE}') then
        create role ${APPLICATION_ROLE} nologin nosuperuser nobypassrls nocreatedb nocreaterole;
        grant ${APPLICATION_ROLE} to current_user;
      end if;
    exception when duplicate_object or unique_violation then null;
    end $$`);
}

async function migrateOwner(client: Client, owner: MigrationOwner, ownerUrl: string): Promise<string[]> {
  const { schema } = owner;
  if (!SCHEMA_NAME.test(schema))
    throw new MigrationError(`"${schema}" is not a name for a schema: lower-case letters and underscores only`);
  await client.query(`
    create schema if not exists ${schema};
    create table if not exists ${schema}.applied_migrations (
      name text primary key, digest text not null, applied_at timestamptz not null default now());
    grant usage on schema ${schema} to ${APPLICATION_ROLE};
    -- By default the application reads and writes rows; a migration revokes what a table must not allow.
    alter default privileges in schema ${schema} grant select, insert, update, delete on tables to ${APPLICATION_ROLE};
    alter default privileges in schema ${schema} grant usage, select on sequences to ${APPLICATION_ROLE}`);
  const known = await client.query<{ name: string; digest: string }>(
    `select name, digest from ${schema}.applied_migrations`,
  );
  const digests = new Map(known.rows.map((row) => [row.name, row.digest]));

  const applied: string[] = [];
  for (const migration of owner.migrations) {
    const digest = digestOf(migration);
    const appliedDigest = digests.get(migration.name);
    if (appliedDigest === digest) continue;
    if (appliedDigest?.startsWith(DIGEST_FORM) === false) {
      await client.query(`update ${schema}.applied_migrations set digest = $2 where name = $1`, [
        migration.name,
        digest,
      ]);
      continue;
    }
    const label = `${schema}/${migration.name}`;
    if (appliedDigest !== undefined)
      throw new MigrationError(`migration ${label} was changed after it had been applied: add a new one instead`);
    await applyOne(client, schema, migration, digest, label);
    digests.set(migration.name, digest);
    applied.push(label);
  }
  await owner.install?.(ownerUrl);
  return applied;
}

/**
 * How digests are made, ahead of each: of what a statement says, however its lines are broken. Those that were recorded
 * before stand for the exact text and say nothing about another layout of it: they are replaced once, unchecked.
 */
const DIGEST_FORM = 'folded:';

function digestOf({ up }: Migration): string {
  const folded = up.map((statement) => statement.replaceAll(/\s+/g, ' ').trim());
  return `${DIGEST_FORM}${createHash('sha256').update(folded.join('\u0000')).digest('hex')}`;
}

async function applyOne(
  client: Client,
  schema: string,
  migration: Migration,
  digest: string,
  label: string,
): Promise<void> {
  await client.query('begin');
  try {
    for (const statement of migration.up) await client.query(statement);
    await client.query(`insert into ${schema}.applied_migrations (name, digest) values ($1, $2)`, [
      migration.name,
      digest,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new MigrationError(`migration ${label} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
