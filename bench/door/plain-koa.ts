import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { Pool } from 'pg';

// What the service is measured against, as a process of its own: Koa that answers a GET with 200 bytes of JSON, and a
// POST by one committed insert. GET /admission also asks the database once, as any door must that counts calls for several
// processes. GET /promises also keeps the promises that a read of the service keeps, and nothing else:
// it asks the database once who is calling and how often, and reads a row in a transaction that row level security is set
// for. Prints where it listens. DATABASE_URL names the server.
const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 16 });
await pool.query('create table if not exists plain_rows (id uuid primary key, body jsonb not null)');
await pool.query('create unlogged table if not exists plain_calls (subject text primary key, calls bigint not null) with (fillfactor = 50)');
const COUNT_CALL = { name: 'count', text: `insert into plain_calls as c values ('a', 1) on conflict (subject) do update set calls = c.calls + 1 returning calls` };
const READ_ROW = { name: 'read', text: 'select * from plain_calls where subject = $1', values: ['a'] };
const answer = { status: 'ok', text: 'x'.repeat(160) };

const app = new Koa();
app.use(async (http) => {
  if (http.method === 'POST') {
    const chunks: Buffer[] = [];
    for await (const chunk of http.req as AsyncIterable<Buffer>) chunks.push(chunk);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    await pool.query('insert into plain_rows (id, body) values (gen_random_uuid(), $1)', [JSON.stringify(body)]);
    http.status = 201;
  }
  if (http.path === '/admission') await pool.query(COUNT_CALL);
  if (http.path === '/promises') {
    await pool.query(COUNT_CALL);
    const client = await pool.connect();
    await client.query(`begin; select set_config('plain.tenant', 'a', true)`);
    await client.query(READ_ROW);
    await client.query('commit');
    client.release();
  }
  http.body = answer;
});
const server = createServer(app.callback()).listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`plain Koa is up at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
