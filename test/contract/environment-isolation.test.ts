import { Client } from 'pg';
import { CONTRACT, pathsOf } from '../../rest-adapter/contract.ts';
import { Connectors, SERVED } from '../../subgraphs/attribution/intake/connectors/registry.ts';
import { Caller, openHouse, type Answer, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';
import { tinyShopConnector } from '../subgraphs/attribution/intake/connectors/tiny-shop.ts';
import { textOf } from './cast.ts';
import { withTestKey } from '../test-key.ts';

const RANGE = ['2026-01-01', '2026-01-31'];
const UNKNOWN = {
  ds: 'ds_0351EFTBArmmpvm2tVZ2Qh',
  attr: 'attr_0351EFUQxpVTZ7WdNYMSuY',
  exp: 'exp_0351EFUQxpVTZ7WdNYMSuZ',
  webhook: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10',
};

/** Takes any credentials, so that some are stored. */
const TRUSTING = { ...tinyShopConnector, check: () => Promise.resolve() };

type Owned = Record<keyof typeof UNKNOWN, string>;

/** Whose id a path takes; undefined for objects that belong to no environment. */
function kindOf(path: string): keyof typeof UNKNOWN | undefined {
  if (path.startsWith('/data-sources/{')) return 'ds';
  if (path.startsWith('/attribution/{')) return 'attr';
  if (path.startsWith('/webhooks/{')) return 'webhook';
  return path.startsWith('/experiments/{') ? 'exp' : undefined;
}

async function fill(caller: Caller): Promise<Owned> {
  const source = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { content: SMALLEST_SHOP },
  });
  const ds = String(source.body['data_source_id']);
  await caller.send(
    'PUT',
    `/data-sources/${ds}/channel-rules`,
    JSON.stringify({ rules: [{ match: { channel: 'mail' }, channel: 'email' }] }),
    { 'content-type': 'application/json' },
  );
  await caller.post('/data-sources/connect', {
    type: TRUSTING.type,
    credentials: { base_url: 'http://localhost:9/', access_token: 'x' },
  });
  const run = await caller.post('/attribution', { data_source_id: ds, date_range: RANGE });
  const experiment = await caller.post('/experiments', {
    data_source_id: ds,
    channel: 'email',
    method: 'holdout',
    period: RANGE,
    incremental_revenue: 5,
    standard_error: 1,
  });
  const webhook = await caller.post('/webhooks', { url: 'http://localhost:9/', events: ['*'] });
  return { webhook: String(webhook.body['id']), ds, attr: String(run.body['id']), exp: String(experiment.body['id']) };
}

describe('one environment of an account against the other', () => {
  let house: House;
  const sides = { live: {} as { caller: Caller; owned: Owned }, sandbox: {} as { caller: Caller; owned: Owned } };

  beforeAll(async () => {
    house = await openHouse('one process', { clock, connectors: new Connectors([...SERVED, TRUSTING]) });
    const live = await Caller.register(house.root);
    const test = await withTestKey(house, live);
    sides.live = { caller: live, owned: await fill(live) };
    sides.sandbox = { caller: test, owned: await fill(test) };
  });
  afterAll(() => house?.stop());

  const operations = CONTRACT.flatMap((operation) => pathsOf(operation).map((path) => ({ operation, path })));
  const lists = operations
    .filter(({ operation, path }) => operation.method === 'GET' && !path.includes('{') && operation.action !== null)
    .map(({ path }) => path);
  const single = operations.flatMap(({ operation, path }) =>
    kindOf(path) === undefined ? [] : [{ method: operation.method, operation, path, kind: kindOf(path)! }],
  );
  const WAYS = [
    ['live', 'sandbox'],
    ['sandbox', 'live'],
  ] as const;

  test('there is something to keep apart', () => {
    for (const { owned } of Object.values(sides)) expect(Object.values(owned)).not.toContain('undefined');
    expect(lists).toEqual(expect.arrayContaining(['/attribution', '/data-sources', '/experiments', '/webhooks']));
    expect(single.length).toBeGreaterThan(9);
  });

  // What was done with test keys is the account's to see in its log; a test key sees nothing of live there either.
  const isOwnLog = (path: string, who: string): boolean => path === '/audit/events' && who === 'live';

  test.each(
    lists
      .flatMap((path) => WAYS.map(([who, whose]) => ({ path, who, whose })))
      .filter(({ path, who }) => !isOwnLog(path, who)),
  )('GET $path of $who shows nothing of $whose', async ({ path, who, whose }) => {
    const text = await textOf(await sides[who].caller.open('GET', `${path}${path === '/events' ? '?after=0' : ''}`));
    for (const id of Object.values(sides[whose].owned)) expect(text).not.toContain(id);
  });

  test('each side sees its own', async () => {
    for (const { caller, owned } of Object.values(sides)) {
      for (const [path, id] of [
        ['/attribution', owned.attr],
        ['/data-sources', owned.ds],
        ['/experiments', owned.exp],
        ['/webhooks', owned.webhook],
      ])
        expect(JSON.stringify((await caller.get(path!)).body)).toContain(id!);
    }
    expect(Number((await sides.live.caller.get('/data-sources')).body['meta']!['total'])).toBe(2);
  });

  test.each(single.flatMap((each) => WAYS.map(([who, whose]) => ({ ...each, who, whose }))))(
    '$method $path of $who answers for an id of $whose as for an unknown one',
    async ({ operation, path, kind, who, whose }) => {
      const send = (id: string): Promise<Answer> => {
        const body =
          operation.kind === 'upload'
            ? SMALLEST_SHOP
            : operation.method === 'GET' || operation.method === 'DELETE'
              ? undefined
              : JSON.stringify(operation.bodySchema?.safeParse({}).success === false ? operation.example.body : {});
        return sides[who].caller.send(operation.method, path.replace(/\{[^}]+\}/, id), body, {
          'content-type': operation.kind === 'upload' ? 'text/csv' : 'application/json',
        });
      };
      const anonymous = ({ status, body }: Answer, id: string) =>
        `${status} ${JSON.stringify(body)
          .replaceAll(id, 'ID')
          .replaceAll(/req_\w+/g, 'REQUEST')}`;
      const foreign = await send(sides[whose].owned[kind]);
      expect(foreign.status).toBe(404);
      expect(anonymous(foreign, sides[whose].owned[kind])).toBe(anonymous(await send(UNKNOWN[kind]), UNKNOWN[kind]));
    },
  );

  test.each(WAYS)('%s analyses no source of %s, and does not learn its channels', async (who, whose) => {
    const answer = await sides[who].caller.post('/attribution', {
      data_source_id: sides[whose].owned.ds,
      date_range: RANGE,
      channels: ['nonsense'],
    });
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body)).not.toContain('email');
  });

  test('live keys know no sandbox source', async () => {
    const { caller } = sides.live;
    expect((await caller.get('/data-sources/ds_sandbox_shopify/status')).status).toBe(404);
    expect(
      (await caller.post('/attribution', { data_source_id: 'ds_sandbox_shopify', date_range: RANGE })).status,
    ).toBe(404);
    expect((await caller.delete('/data-sources/ds_sandbox_shopify')).status).toBe(404);
  });

  test('what a test key changes of the agent, the sandbox alone shows', async () => {
    const shown = async ({ caller }: { caller: Caller }): Promise<unknown> => {
      const { name, capabilities, callback_url, redirect_uris } = (await caller.get('/agents/me')).body;
      return { name, capabilities, callback_url, redirect_uris };
    };
    const { live, sandbox } = sides;
    const before = await shown(live);
    const changes = {
      name: 'toy-agent',
      callback_url: 'https://toy.example/hook',
      redirect_uris: ['https://toy.example/back'],
    };
    const changed = await sandbox.caller.send('PATCH', '/agents/me', JSON.stringify(changes), {
      'content-type': 'application/json',
    });
    expect([changed.status, changed.body]).toMatchObject([200, changes]);
    expect(
      (
        await sandbox.caller.send('PUT', '/agents/me/capabilities', '{"capabilities":["journey"]}', {
          'content-type': 'application/json',
        })
      ).status,
    ).toBe(200);
    expect(await shown(sandbox)).toEqual({ ...changes, capabilities: ['journey'] });
    expect(await shown(live)).toEqual(before);
    const consent = new URLSearchParams({
      response_type: 'code',
      client_id: String((await live.caller.get('/agents/me')).body['id']),
      redirect_uri: changes.redirect_uris[0]!,
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      state: 'state-of-the-client',
    });
    expect((await fetch(`${house.root}/v1/oauth/authorize?${consent}`, { redirect: 'manual' })).status).toBe(400);
  });

  test('what the sandbox recovers is nobody’s merit', async () => {
    await sides.sandbox.caller.post('/attribution', {
      data_source_id: 'ds_sandbox_google_ads',
      date_range: ['2026-06-01', '2026-07-31'],
    });
    const agents = await Promise.all(
      Object.values(sides).map(
        async ({ caller }) => (await caller.get('/agents/me')).body['total_delta_r_cents'] as Json | undefined,
      ),
    );
    expect(agents).toEqual([agents[0], agents[0]]);
    expect(Number(agents[0])).toBeLessThan(1_000);
  }, 120_000);

  test('the database: an account without an environment sees nothing, and cannot write rows of the other', async () => {
    const [account] = await house.keys.find(sides.live.caller.key!);
    const { accountId } = account!;
    const count = (scope: Parameters<typeof house.backing.database.asTenant>[0], table: string) =>
      house.backing.database.asTenant(scope, async (em) =>
        Number((await em.execute<{ n: string }[]>(`select count(*) as n from attribution.${table}`))[0]!.n),
      );
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    const { rows } = await owner.query<{ name: string }>(`
      select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a
        on a.attrelid = c.oid and a.attname = 'account_id'
      where n.nspname = 'attribution' and c.relkind = 'r' order by 1`);
    await owner.end();
    expect(rows.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'attributions',
        'attribution_progress',
        'data_sources',
        'experiments',
        'source_days',
        'uploads',
      ]),
    );
    for (const { name } of rows) expect({ name, seen: await count(accountId, name) }).toEqual({ name, seen: 0 });
    for (const { name } of rows)
      expect(await count({ accountId, environment: 'live', workspace: null }, name)).toBeGreaterThan(0);

    const move = house.backing.database.asTenant({ accountId, environment: 'live', workspace: null }, (em) =>
      em.execute(`update attribution.data_sources set environment = 'sandbox'`),
    );
    await expect(move).rejects.toMatchObject({ code: '42501' });
    const spoil = await house.backing.database.asTenant({ accountId, environment: 'sandbox', workspace: null }, (em) =>
      em.execute<unknown[]>(
        `with gone as (delete from attribution.data_sources where name like 'Sandbox %' returning 1), renamed as ` +
          `(update attribution.data_sources set name = 'spoiled' where name like 'Sandbox %' returning 1) select 1 ` +
          `from gone ` +
          `union all select 1 from renamed`,
      ),
    );
    expect(spoil).toEqual([]);
  });
});
