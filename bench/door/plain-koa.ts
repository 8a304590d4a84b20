import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { Pool, type PoolClient } from 'pg';

// What the service is measured against, as a process of its own: Koa that answers a GET with 200 bytes of JSON, and a
// POST by one committed insert. GET /admission also asks the database once, as any door must that counts calls for
// several processes. GET /promises also keeps the promises that a read of the service keeps, and nothing else: it asks
// the database once who is calling and how often, and reads a row in a transaction that row level security is set for.
// POST /promises does so for a write: one question counts the call and takes its nonce and its idempotency key, one
// transaction that row level security is set for stores the row, its line in the audit log, its event, and the answer
// that a retry gets. Prints where it listens. DATABASE_URL names the server.
const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 16 });
await pool.query('create table if not exists plain_rows (id uuid primary key, body jsonb not null)');
await pool.query(
  'create unlogged table if not exists plain_calls (subject text primary key, calls bigint not null) with ' +
    '(fillfactor = 50)',
);
await pool.query(
  'create table if not exists plain_nonces (nonce text primary key, at timestamptz not null default now())',
);
await pool.query(
  'create table if not exists plain_claims (key text primary key, fingerprint bytea not null, answer jsonb)',
);
await pool.query(
  'create table if not exists plain_log (id bigint generated always as identity primary key, entry jsonb not null)',
);
const COUNT_CALL = {
  name: 'count',
  text:
    `insert into plain_calls as c values ('a', 1) on conflict (subject) do update set calls = c.calls + 1 ` +
    `returning calls`,
};
const READ_ROW = { name: 'read', text: 'select * from plain_calls where subject = $1', values: ['a'] };
const ADMIT_WRITE = {
  name: 'admit-write',
  text: `with counted as (insert into plain_calls as c values ('a', 1) on conflict (subject) do update
    set calls = c.calls + 1 returning calls),
    taken as (insert into plain_nonces (nonce) values ($1) on conflict do nothing returning 1),
    claimed as (insert into plain_claims (key, fingerprint) values ($2, $3) on conflict do nothing returning 1)
    select calls, (select count(*) from taken) as taken, (select count(*) from claimed) as claimed from counted`,
};
const STORE = { name: 'store', text: 'insert into plain_rows (id, body) values (gen_random_uuid(), $1)' };
const LOG = { name: 'log', text: 'insert into plain_log (entry) values ($1), ($1)' };
const SETTLE = { name: 'settle', text: 'update plain_claims set answer = $2 where key = $1' };
const answer = { status: 'ok', text: 'x'.repeat(160) };

async function inTransaction(work: (client: PoolClient) => Promise<unknown>): Promise<void> {
  const client = await pool.connect();
  await client.query(`begin; select set_config('plain.tenant', 'a', true)`);
  await work(client);
  await client.query('commit');
  client.release();
}

async function writeAsPromised(nonce: string, key: string, text: string, body: string): Promise<void> {
  await pool.query({ ...ADMIT_WRITE, values: [nonce, key, hash('sha256', text, 'buffer')] });
  await inTransaction(async (client) => {
    await client.query({ ...STORE, values: [body] });
    await client.query({ ...LOG, values: [body] });
    await client.query({ ...SETTLE, values: [key, JSON.stringify(answer)] });
  });
}

const app = new Koa();
app.use(async (http) => {
  if (http.method === 'POST') {
    const chunks: Buffer[] = [];
    for await (const chunk of http.req as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const body = JSON.stringify(JSON.parse(text));
    if (http.path === '/promises')
      await writeAsPromised(http.get('x-nonce'), http.get('svc-idempotency-key'), text, body);
    else await pool.query({ ...STORE, values: [body] });
    http.status = 201;
  } else if (http.path === '/admission') {
    await pool.query(COUNT_CALL);
  } else if (http.path === '/promises') {
    await pool.query(COUNT_CALL);
    await inTransaction((client) => client.query(READ_ROW));
  }
  http.body = answer;
});
const server = createServer(app.callback()).listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`plain Koa is up at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
