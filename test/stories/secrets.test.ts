import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Client } from 'pg';
import { WebSocket } from 'ws';
import { CONTRACT, pathsOf } from '../../rest-adapter/contract.ts';
import { openHouse, type House } from '../house.ts';
import { clock } from '../service-clock.ts';

const SENTINEL = 'SENTINELsentinel';
/** Whatever the service gives away as a secret looks like one of these. */
const ISSUED = /\b(?:svc_(?:(?:agent|live|test)_sk_[A-Za-z0-9]{24}|[ar]t_[A-Za-z0-9_-]{43})|whsec_[A-Za-z0-9+/]{43}=)/g;

/** An answer with everything that a client sees of it. */
interface Told {
  readonly of: string;
  readonly text: string;
}

let house: House;
const told: Told[] = [];
/** Each with the answers that may show it. */
const secrets = new Map<string, { readonly shownBy: Told | null }>();

beforeAll(async () => {
  house = await openHouse('subgraphs apart', { clock, logLevel: 'trace' });
  for (const secret of house.secrets) secrets.set(secret, { shownBy: null });
});
afterAll(() => house?.stop());

/** A secret of the client's that nothing may repeat. */
function planted(name: string): string {
  const secret = `${SENTINEL}${name}`;
  secrets.set(secret, { shownBy: null });
  return secret;
}

async function send(
  method: string,
  path: string,
  options: { body?: unknown; headers?: Record<string, string>; key?: string | null } = {},
): Promise<{ status: number; json: Record<string, unknown> }> {
  const { body, headers = {}, key = null } = options;
  const response = await fetch(`${house.root}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(method === 'GET' ? {} : { 'x-nonce': randomUUID() }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = {
    of: `${method} ${path}: ${response.status}`,
    text: `${[...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')}\n${text}`,
  };
  told.push(answer);
  for (const [secret] of answer.text.matchAll(ISSUED))
    if (!secrets.has(secret)) secrets.set(secret, { shownBy: answer });
  return { status: response.status, json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} };
}

const offers = (path: string): boolean => CONTRACT.some((operation) => pathsOf(operation).includes(path));

/** Everything that deals with secrets, done well and done badly. */
async function wholeDay(): Promise<void> {
  const registered = await send('POST', '/v1/agents/register', {
    body: {
      name: 'secretive',
      operator_id: randomUUID(),
      callback_url: `https://user:${planted('callback')}@hooks.example/`,
    },
  });
  const { json } =
    registered.status === 201
      ? registered
      : await send('POST', '/v1/agents/register', { body: { name: 'secretive', operator_id: randomUUID() } });
  const key = String(json['api_key']);

  await keysAndTokens(key, String(json['agent_id']));
  await webhooks(key);

  const source = await send('POST', '/v1/data-sources/connect', {
    key,
    body: { type: 'csv_upload', credentials: { filename: 'rows.csv', content: ROWS } },
  });
  const sourceId = String(source.json['data_source_id']);
  await send('POST', '/v1/data-sources/connect', {
    key,
    body: { type: 'csv_upload', credentials: { password: planted('credentials') } },
  });
  await send('POST', '/v1/data-sources/connect', {
    key,
    body: { type: 'shopify', credentials: { access_token: planted('shopify') } },
  });
  await send('POST', '/v1/data-sources/connect', {
    key,
    body: `{"type":"ga4","credentials":{"service_account":"${planted('broken')}`,
  });
  await send('POST', `/v1/data-sources/${sourceId}/records`, {
    key,
    body: ROWS,
    headers: { 'content-type': 'text/csv' },
  });
  const analysis = await send('POST', '/v1/attribution', {
    key,
    body: { data_source_id: sourceId, date_range: ['2026-01-01', '2026-01-31'], model: 'shapley' },
  });
  await send('GET', `/v1/attribution/${String(analysis.json['id'])}`, { key });
  await send('GET', `/v1/attribution/${String(analysis.json['id'])}/stream`, { key });
  await send('GET', `/v1/attribution/${String(analysis.json['id'])}/export`, { key });
  await send('POST', '/v1/verify', { body: { result: analysis.json, jws: analysis.json['signature'] } });
  for (const path of [
    '/v1/attribution',
    '/v1/data-sources',
    '/v1/agents/me',
    '/v1/billing/plans',
    '/v1/experiments',
    '/v1/keys',
    '/v1/audit/events',
    '/v1/attribution/attr_0351EHkIP5aQClJArGIRJe',
    '/readyz',
    '/openapi.json',
    '/.well-known/jwks.json',
  ])
    await send('GET', path, { key });

  await refusals(key);
  await overTheGraph(key);
  // After everything else, so that all of it is counted.
  expect(await send('GET', '/metrics')).toMatchObject({ status: 200 });
  expect(told.at(-1)!.text).toContain('liftgraph_http_requests_total{operation="registerAgent"');
}

async function keysAndTokens(key: string, agentId: string): Promise<void> {
  if (offers('/keys')) {
    const { json } = await send('POST', '/v1/keys', { key, body: { name: 'second' } });
    for (const id of JSON.stringify(json).matchAll(/"(key_[0-9A-Za-z]{22})"/g)) {
      await send('POST', `/v1/keys/${id[1]!}/rotate`, { key, body: {} });
      await send('DELETE', `/v1/keys/${id[1]!}`, { key });
    }
  }
  if (offers('/oauth/token')) {
    const token = await send('POST', '/v1/oauth/token', {
      body: { grant_type: 'client_credentials', client_id: agentId, client_secret: key },
    });
    await send('GET', '/v1/agents/me', { key: String(token.json['access_token']) });
    const refresh = { grant_type: 'refresh_token', client_id: agentId, refresh_token: token.json['refresh_token'] };
    // Once well, and once as a thief would.
    for (let time = 0; time < 2; time += 1) await send('POST', '/v1/oauth/token/refresh', { body: refresh });
    await send('POST', '/v1/oauth/token', {
      body: {
        grant_type: 'client_credentials',
        client_id: agentId,
        client_secret: `svc_agent_sk_${planted('client')}ABCD`.slice(0, 37),
      },
    });
    await send('POST', '/v1/oauth/revoke', { body: { token: token.json['access_token'] } });
  }
}

async function webhooks(key: string): Promise<void> {
  const before = secrets.size;
  await send('POST', '/v1/agents/register', {
    body: { name: 'called-back', operator_id: randomUUID(), callback_url: 'http://localhost:9/' },
  });
  // Made by the service, for the same request twice.
  const headers = { 'svc-idempotency-key': randomUUID() };
  for (let time = 0; time < 2; time += 1) {
    const { json } = await send('POST', '/v1/webhooks', {
      key,
      headers,
      body: { url: 'http://localhost:9/', events: ['*'] },
    });
    // The replay shows what it repeats.
    if (time === 1) told.pop();
    await send('POST', `/v1/webhooks/${String(json['id'])}/test`, { key, body: {} });
  }
  expect(secrets.size).toBe(before + 3);
  const {
    json: { id },
  } = await shownOnce('given', (secret) =>
    send('POST', '/v1/webhooks', { key, body: { url: 'http://localhost:9/', events: ['agent.tier_changed'], secret } }),
  );
  await shownOnce('replaced', (secret) => send('PATCH', `/v1/webhooks/${String(id)}`, { key, body: { secret } }));
  await send('POST', `/v1/webhooks/${String(id)}/test`, { key, body: {} });
  await send('PATCH', `/v1/webhooks/${String(id)}`, { key, body: { secret: planted('refused'), url: 'nonsense' } });
  await send('POST', '/v1/webhooks', {
    key,
    body: { url: 'http://localhost:9/', events: ['*'], secret: `whsec_!${planted('malformed')}` },
  });
  await send('POST', '/graphql', {
    key,
    body: {
      query: 'mutation ($i: CreateWebhookInput!) { createWebhook(input: $i) { secret } }',
      variables: { i: { url: 'ftp://localhost/', events: ['*'], secret: planted('webhook') } },
    },
  });
  for (const path of ['/v1/webhooks?active=all', `/v1/webhooks/${String(id)}`, `/v1/webhooks/${String(id)}/deliveries`])
    await send('GET', path, { key });
}

/** Gives a secret of the client's away to the service, which may show it in this one answer. */
async function shownOnce<Sent>(name: string, give: (secret: string) => Promise<Sent>): Promise<Sent> {
  const secret = planted(name);
  const sent = await give(secret);
  secrets.set(secret, { shownBy: told.at(-1)! });
  return sent;
}

/** Secrets where they do not belong, or that nobody knows. */
async function refusals(key: string): Promise<void> {
  await send('GET', '/v1/agents/me', { key: `svc_live_sk_${planted('unknown1').slice(0, 24)}` });
  await send('GET', '/v1/agents/me', { key: planted('shapeless') });
  await send('GET', '/v1/agents/me', { headers: { authorization: `Basic ${planted('basic')}` } });
  await send('GET', `/v1/agents/me?token=${planted('query')}`, { key });
  await send('GET', '/v1/agents/me', { headers: { cookie: `session=${planted('cookie')}` } });
  await send('POST', '/v1/attribution', {
    key,
    body: { data_source_id: 7, api_key: planted('member'), date_range: { secret: planted('nested') } },
  });
  await send('POST', '/v1/attribution', {
    key,
    body: 'x',
    headers: { 'content-type': 'text/plain', 'x-secret': planted('header') },
  });
  await send('POST', '/v1/verify', { body: { jws: planted('jws') } });
  await send('POST', '/graphql', {
    key: `svc_live_sk_${planted('unknown2').slice(0, 24)}`,
    body: { query: '{ me { id } }' },
  });
}

async function overTheGraph(key: string): Promise<void> {
  await send('POST', '/graphql', {
    key,
    body: {
      query: 'query ($x: ID!) { attribution(id: $x) { id } }',
      variables: { x: { secret: planted('variable') } },
    },
  });
  await send('POST', '/graphql', {
    key,
    body: {
      query: 'mutation ($i: ConnectDataSourceInput!) { connectDataSource(input: $i) { dataSource { id } } }',
      variables: { i: { type: 'SHOPIFY', credentials: { access_token: planted('graph') } } },
    },
  });
  await send('POST', '/graphql', { key, body: { query: `query ${planted('operation')} { me { id } }` } });
  const socket = new WebSocket(`${house.root.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  for (const authorization of [`Bearer ${key}`])
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization, extra: planted('init') } }));
  await once(socket, 'message');
  socket.send(
    JSON.stringify({
      id: '1',
      type: 'subscribe',
      payload: { query: '{ me { id name } }', extensions: { secret: planted('extensions') } },
    }),
  );
  told.push({ of: 'WebSocket', text: String(((await once(socket, 'message')) as [Buffer])[0]) });
  socket.terminate();
}

const ROWS = [
  'user_id,timestamp,channel,cost,conversion,revenue',
  ...Array.from({ length: 40 }, (_, user) => {
    const day = String(1 + (user % 28)).padStart(2, '0');
    const channel = ['email', 'search', 'social'][user % 3]!;
    return `u${user},2026-01-${day}T10:00:00Z,${channel},1,${user % 4 === 0 ? '1,40' : '0,'}`;
  }),
].join('\n');

/** Every row of every table, as text, with the name of its table. */
async function databaseRows(): Promise<Told[]> {
  const client = new Client({ connectionString: house.ownerUrl });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_type = ` +
      `'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const rows: Told[] = [];
  for (const { name } of tables.rows)
    for (const { row } of (await client.query<{ row: string }>(`select t::text as row from ${name} t`)).rows)
      rows.push({ of: name, text: row });
  await client.end();
  return rows;
}

/** The ways in which a secret may stand in a text. */
const spellings = (secret: string): string[] => {
  const bytes = [Buffer.from(secret), Buffer.from(secret, 'latin1')];
  return [
    ...new Set([
      secret,
      encodeURIComponent(secret),
      ...bytes.flatMap((each) =>
        (['hex', 'base64', 'base64url'] as const).map((encoding) => each.toString(encoding).replace(/=+$/, '')),
      ),
    ]),
  ];
};

test('a whole day with secrets of every kind leaves none of them in answers, logs or tables', async () => {
  await wholeDay();
  expect(told.length).toBeGreaterThan(30);
  // The day has really happened: well and badly.
  for (const status of [200, 201, 202, 401, 404, 415, 422])
    expect(told.map(({ of }) => of.slice(-3))).toContain(String(status));
  expect(secrets.size).toBeGreaterThan(20);
  const lines = house
    .log()
    .split('\n')
    .map((text) => ({ of: 'log', text }));
  const rows = await databaseRows();
  expect(new Set(rows.map(({ of }) => of)).size).toBeGreaterThan(10);
  expect(rows.some(({ of }) => of === 'auth.api_keys')).toBe(true);

  const leaks: string[] = [];
  for (const [secret, { shownBy }] of secrets) {
    for (const place of [...told, ...lines, ...rows]) {
      if (place !== shownBy && spellings(secret).some((spelling) => place.text.includes(spelling)))
        leaks.push(`${secret.slice(0, 40)} in ${place.of}: ${place.text.slice(0, 200)}`);
    }
  }
  expect(leaks).toEqual([]);
});
