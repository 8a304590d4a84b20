import { createHash, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { DatabaseUrls } from '../platform/postgres/application-role.ts';
import { migrate, type MigrationOwner } from '../platform/postgres/migrate.ts';

/** How start-services.ts tells Jest's workers where the servers are. */
export const SERVICES_VARIABLE = 'LIFTGRAPH_TEST_SERVICES';

export interface TestServices {
  readonly postgresOwnerUrl: string;
  readonly postgresApplicationUrl: string;
  readonly clickhouseUrl: string;
}

export interface TestDatabase extends DatabaseUrls {
  drop(): Promise<void>;
}

export interface TestClickHouse {
  readonly url: string;
  readonly database: string;
  drop(): Promise<void>;
}

/**
 * A machine that is busy with other tests is not an outage of the database. Outages are the fault runs' part, on the
 * service as it is.
 */
export const PATIENCE_MS = 20_000;

/** The servers of this test run. */
export function testServices(): TestServices {
  const services = process.env[SERVICES_VARIABLE];
  if (services === undefined)
    throw new Error('the test servers are not running: tests run under Jest with test/start-services.ts');
  return JSON.parse(services) as TestServices;
}

/**
 * A PostgreSQL database of its own for one test file, with these owners' schemas. The first file that asks migrates a
 * template; everyone else gets a copy of it, which takes a fraction of the time.
 */
export async function createTestDatabase(owners: readonly MigrationOwner[]): Promise<TestDatabase> {
  const services = testServices();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asOwner(services.postgresOwnerUrl, async (client) => {
    const template = await ensureTemplate(client, services.postgresOwnerUrl, owners);
    await client.query(`create database ${name} template ${template}`);
  });
  return {
    ownerUrl: withDatabase(services.postgresOwnerUrl, name),
    applicationUrl: withDatabase(services.postgresApplicationUrl, name),
    drop: () => asOwner(services.postgresOwnerUrl, (client) => dropDatabase(client, name)),
  };
}

/** A ClickHouse database of its own for one test file, empty. */
export async function createTestClickHouse(): Promise<TestClickHouse> {
  const { clickhouseUrl: url } = testServices();
  const database = `test_${randomBytes(8).toString('hex')}`;
  await clickhouseCommand(url, `create database ${database}`);
  return { url, database, drop: () => clickhouseCommand(url, `drop database if exists ${database}`) };
}

async function ensureTemplate(client: Client, ownerUrl: string, owners: readonly MigrationOwner[]): Promise<string> {
  const digest = createHash('sha256')
    .update(JSON.stringify(owners.map((owner) => [owner.schema, owner.migrations])))
    .digest('hex');
  const template = `template_${digest.slice(0, 16)}`;
  // One worker makes it; the others wait here, and CREATE DATABASE needs a template without connections.
  await client.query('select pg_advisory_lock(hashtext($1))', [template]);
  const { rowCount } = await client.query('select from pg_database where datname = $1', [template]);
  if (rowCount === 0) {
    const unfinished = `${template}_unfinished`;
    await dropDatabase(client, unfinished);
    await client.query(`create database ${unfinished}`);
    await migrate({ ownerUrl: withDatabase(ownerUrl, unfinished), owners });
    await client.query(`alter database ${unfinished} rename to ${template}`);
  }
  return template;
}

/**
 * Not WITH (FORCE): that would also end an autovacuum worker, which the owner has no right to; a plain drop asks it to
 * stop.
 */
async function dropDatabase(client: Client, name: string): Promise<void> {
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
    [name],
  );
  await client.query(`drop database if exists ${name}`);
}

async function asOwner<T>(ownerUrl: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    // Gives the lock back as well.
    await client.end();
  }
}

function withDatabase(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

async function clickhouseCommand(address: string, sql: string): Promise<void> {
  const url = new URL(address);
  // fetch takes no credentials in an address.
  const credentials = Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString(
    'base64',
  );
  url.username = '';
  url.password = '';
  const response = await fetch(url, { method: 'POST', body: sql, headers: { authorization: `Basic ${credentials}` } });
  if (!response.ok) throw new Error(`ClickHouse refused "${sql}": ${await response.text()}`);
}
