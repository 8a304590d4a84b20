import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { WebSocket } from 'ws';
import { storeAccessToken } from '../access-token.ts';
import { Caller, LAYOUTS, openHouse, type House } from '../house.ts';
import { clock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';

/** What the contract allows between the end of a credential and that of its streams. */
const WITHIN_MS = 2_000;

describe.each(LAYOUTS)('open streams, %s', (layout) => {
  let house: House;
  let owner: Client;

  beforeAll(async () => {
    // Without a worker an analysis waits forever, and so does its stream.
    house = await openHouse(layout, { withWorker: false, clock });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });

  const uploads: ClientRequest[] = [];
  afterAll(async () => {
    for (const upload of uploads) upload.destroy();
    await owner?.end();
    await house?.stop();
  });

  /** A tenant with an analysis that nobody runs. */
  async function waitingTenant() {
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: SMALLEST_SHOP },
    });
    const { body } = await caller.post(
      '/attribution',
      { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'] },
      { prefer: 'respond-async' },
    );
    const { rows } = await owner.query<{ id: string; account_id: string }>(
      'select id, account_id from auth.api_keys where last4 = $1',
      [caller.key!.slice(-4)],
    );
    return {
      caller,
      source: String(source.body['data_source_id']),
      analysis: String(body['id']),
      keyId: rows[0]!.id,
      accountId: rows[0]!.account_id,
    };
  }

  /** An event stream that has begun; `ended` says when it was over. */
  async function openEvents(credential: string, analysis: string): Promise<{ ended: Promise<number> }> {
    const response = await new Caller(house.root, credential).open('GET', `/attribution/${analysis}/stream`);
    expect(response.status).toBe(200);
    const reader = response.body!.getReader();
    await reader.read();
    const ended = (async () => {
      while (!(await reader.read()).done);
      return performance.now();
    })();
    return { ended };
  }

  /** A socket that was let in. */
  async function openSocket(
    credential: string,
  ): Promise<{ socket: WebSocket; ended: Promise<{ atMs: number; code: number; reason: string }> }> {
    const socket = new WebSocket(`${house.root.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${credential}` } }));
    await once(socket, 'message');
    const ended = (once(socket, 'close') as Promise<[number, Buffer]>).then(([code, reason]) => ({
      atMs: performance.now(),
      code,
      reason: String(reason),
    }));
    return { socket, ended };
  }

  test.each([
    ['a revoked key', `update auth.api_keys set revoked_at = now() where id = $1`, 'key'],
    ['a key whose grace is over', `update auth.api_keys set grace_ends_at = auth.clock() where id = $1`, 'key'],
    ['the revoked key behind a token', `update auth.api_keys set revoked_at = now() where id = $1`, 'token'],
    ['a revoked token', `update auth.tokens set revoked_at = now() where key_id = $1`, 'token'],
    ['a token that was removed', `delete from auth.tokens where key_id = $1`, 'token'],
  ] as const)('%s ends its own, and nobody else’s', async (_what, ending, kind) => {
    const [tenant, other] = await Promise.all([waitingTenant(), waitingTenant()]);
    const credential =
      kind === 'key' ? tenant.caller.key! : await storeAccessToken(owner, house.keyPepper, tenant.accountId);
    const [events, socket, otherSocket] = await Promise.all([
      openEvents(credential, tenant.analysis),
      openSocket(credential),
      openSocket(other.caller.key!),
    ]);

    const endedAtMs = performance.now();
    await owner.query(ending, [tenant.keyId]);
    expect((await events.ended) - endedAtMs).toBeLessThan(WITHIN_MS);
    const { atMs, ...closing } = await socket.ended;
    expect(atMs - endedAtMs).toBeLessThan(WITHIN_MS);
    expect(closing).toEqual({ code: 4401, reason: 'expired_api_key' });
    // Who resumes is told why.
    expect((await new Caller(house.root, credential).get(`/attribution/${tenant.analysis}/stream`)).status).toBe(401);
    expect(otherSocket.socket.readyState).toBe(WebSocket.OPEN);
    otherSocket.socket.close();
  });

  /** Sends rows for as long as nobody answers. */
  function uploadSlowly(
    credential: string,
    source: string,
    mediaType: string,
    first: string,
  ): { begun: Promise<unknown>; answer: Promise<{ status: number | undefined; body: string }> } {
    const headers = { authorization: `Bearer ${credential}`, 'x-nonce': randomUUID(), 'content-type': mediaType };
    const sent = request(`${house.root}/v1/data-sources/${source}/records`, { method: 'POST', headers, agent: false });
    sent.on('error', () => undefined);
    sent.write(first);
    const writing = setInterval(() => sent.write('u1,2026-01-01T00:00:00Z,email\n'), 20);
    sent.once('close', () => clearInterval(writing));
    uploads.push(sent);
    const answer = (once(sent, 'response') as Promise<[IncomingMessage]>).then(async ([response]) => {
      const body = await text(response);
      sent.destroy();
      return { status: response.statusCode, body };
    });
    return { begun: once(sent, 'socket').then(() => sleep(200)), answer };
  }

  test('a revoked key ends what takes its time, too: uploads, as a file or a form, and waits', async () => {
    const { caller, source, keyId } = await waitingTenant();
    const rows = 'user_id,timestamp,channel\n';
    const file = uploadSlowly(caller.key!, source, 'text/csv', rows);
    const form = uploadSlowly(
      caller.key!,
      source,
      'multipart/form-data; boundary=b',
      `--b\r\nContent-Disposition: form-data; name="file"; filename="rows.csv"\r\n\r\n${rows}`,
    );
    const waiting = caller.post(
      '/attribution',
      { data_source_id: source, date_range: ['2026-01-01', '2026-01-30'] },
      { prefer: 'wait=60' },
    );
    await Promise.all([file.begun, form.begun]);
    while (Number((await caller.get('/attribution')).body['meta']?.['total']) < 2) await sleep(20);

    const endedAtMs = performance.now();
    await owner.query('update auth.api_keys set revoked_at = now() where id = $1', [keyId]);
    for (const { status, body } of await Promise.all([
      file.answer,
      form.answer,
      waiting.then(({ status, text: body }) => ({ status, body })),
    ])) {
      expect([status, JSON.parse(body)]).toMatchObject([401, { error: { type: 'expired_api_key' } }]);
    }
    expect(performance.now() - endedAtMs).toBeLessThan(WITHIN_MS);
  });

  /** Begins a request, and sends the rest of its body when told to; the answer may come before. */
  function sendInTwo(credential: string, path: string, body: string): { rest(): void; answer: Promise<unknown> } {
    const headers = {
      authorization: `Bearer ${credential}`,
      'x-nonce': randomUUID(),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request(`${house.root}${path}`, { method: 'POST', headers, agent: false });
    sent.on('error', () => undefined);
    sent.write(body.slice(0, 1));
    uploads.push(sent);
    const answer = (once(sent, 'response') as Promise<[IncomingMessage]>).then(async ([response]): Promise<unknown> =>
      JSON.parse(await text(response)),
    );
    return { rest: () => sent.end(body.slice(1)), answer };
  }
  const keysOf = async (accountId: string): Promise<number> =>
    (await owner.query<{ id: string }>('select id from auth.api_keys where account_id = $1', [accountId])).rows.length;

  test('a request that was let in before the revocation and sent to its end behind it does nothing', async () => {
    const { caller, keyId, accountId } = await waitingTenant();
    const sent = [
      sendInTwo(caller.key!, '/v1/keys', '{"name":"late"}'),
      sendInTwo(caller.key!, '/graphql', '{"query":"mutation { createKey(input: {}) { keyPairId } }"}'),
    ];
    await sleep(400);
    await owner.query('update auth.api_keys set revoked_at = now() where id = $1', [keyId]);
    await sleep(200);
    for (const { rest } of sent) rest();
    expect(await sent[0]!.answer).toMatchObject({ error: { type: 'expired_api_key' } });
    expect(await sent[1]!.answer).toMatchObject({ errors: [{ extensions: { type: 'expired_api_key' } }] });
    expect(await keysOf(accountId)).toBe(1);
  });

  test('a key that was revoked since it was let in leaves nothing behind that outlives it', async () => {
    const { caller, keyId, accountId } = await waitingTenant();
    const workspace = String((await caller.post('/workspaces', { name: 'Spring' })).body['workspace_id']);
    const guest = String((await (await Caller.register(house.root)).get('/agents/me')).body['agent_id']);
    await owner.query('begin');
    await owner.query('select 1 from auth.accounts where account_id = $1 for update', [accountId]);
    await owner.query('select 1 from auth.workspaces where account_id = $1 for update', [accountId]);
    await owner.query(`select pg_advisory_xact_lock(hashtextextended($1 || ' webhooks', 4))`, [accountId]);
    // All wait for these locks: the key is good, and nothing is asked of it at the door any more.
    const asked = [
      caller.post('/keys', {}),
      caller.post('/agents/me/keys/rotate', {}),
      caller.post(`/workspaces/${workspace}/agents`, { agent_id: guest, role: 'owner' }),
      caller.post('/webhooks', { url: 'http://localhost:9/', events: ['*'] }),
    ];
    for (let waiting = 0; waiting < asked.length; await sleep(10)) {
      waiting = Number(
        (await owner.query<{ n: string }>('select count(*) as n from pg_locks where not granted')).rows[0]!.n,
      );
    }
    await owner.query('update auth.api_keys set revoked_at = now() where id = $1', [keyId]);
    await owner.query('commit');
    for (const answer of asked)
      expect(await answer).toMatchObject({ status: 401, body: { error: { type: 'expired_api_key' } } });
    const { rows } = await owner.query(
      `select (select count(*) from auth.api_keys where account_id = $1) as keys, (select count(*) from ` +
        `auth.workspace_members where account_id = $1) as members, (select count(*) from events.webhook_endpoints
          where ` +
        `account_id = $1) as webhooks`,
      [accountId],
    );
    expect(rows).toEqual([{ keys: '1', members: '1', webhooks: '0' }]);
  });

  test('a token that expires ends them by itself', async () => {
    const { accountId, analysis } = await waitingTenant();
    const openStreams = async (lifetimeMs: number) => {
      const begunAtMs = performance.now();
      const token = await storeAccessToken(owner, house.keyPepper, accountId, { lifetime: `${lifetimeMs} ms` });
      const storedAtMs = performance.now();
      const [events, socket] = await Promise.all([openEvents(token, analysis), openSocket(token)]);
      return { begunAtMs, storedAtMs, openedMs: performance.now() - storedAtMs, events, socket };
    };
    // However slow the machine is, they are open before the token ends.
    const lifetimeMs = 1_000 + Math.ceil(10 * (await openStreams(60_000)).openedMs);
    const { begunAtMs, storedAtMs, events, socket } = await openStreams(lifetimeMs);
    for (const atMs of [await events.ended, (await socket.ended).atMs]) {
      // Its time runs from some moment of the storing; timers are exact to a millisecond or two.
      expect(atMs - begunAtMs).toBeGreaterThan(lifetimeMs - 10);
      expect(atMs - storedAtMs).toBeLessThan(lifetimeMs + WITHIN_MS);
    }
  });
});
