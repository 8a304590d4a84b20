import { Client } from 'pg';
import { CONTRACT, pathsOf } from '../../rest-adapter/contract.ts';
import type { Operation } from '../../rest-adapter/operation.ts';
import { NOUNS } from '../../schema/contract/contract.ts';
import type { Row } from '../../schema/contract/noun.ts';
import { Connectors, SERVED } from '../../subgraphs/attribution/intake/connectors/registry.ts';
import { Caller, openHouse, type Answer, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';
import { tinyShopConnector } from '../subgraphs/attribution/intake/connectors/tiny-shop.ts';
import { textOf } from './cast.ts';
import { addressOf, exampleRequest, unknownId, type ExampleRequest, type IdKind } from './example-requests.ts';
import { furnish, objectsOf, type Furnishing } from './furnish.ts';
import type { Belongings } from './noun-objects.ts';
import { withTestKey } from '../test-key.ts';

const RANGE = ['2026-01-01', '2026-01-31'];
/** Takes any credentials, so that some are stored. */
const TRUSTING = { ...tinyShopConnector, check: () => Promise.resolve() };

const NOUNS_OF_ENVIRONMENTS = NOUNS.flatMap((noun) => {
  const objects = objectsOf(noun.many);
  if ('comesWith' in objects || objects.kind === undefined || objects.isOfNoEnvironment === true) return [];
  return [{ noun, kind: objects.kind }];
});
const KINDS: ReadonlySet<IdKind> = new Set(NOUNS_OF_ENVIRONMENTS.map(({ kind }) => kind));

/** The request of the example; of the ids in its path the first is chosen, and the others are those of `owned`. */
function requestFor(operation: Operation, chosen: string, owned: Belongings): ExampleRequest {
  let isFirst = true;
  return exampleRequest(operation, (kind, place) => {
    if (!place.startsWith('path/')) return unknownId(kind);
    const id = isFirst ? chosen : (owned[kind] ?? unknownId(kind));
    isFirst = false;
    return id;
  });
}

/** Whose id the path of an operation takes first. */
function firstKind(operation: Operation): IdKind | undefined {
  let first: IdKind | undefined;
  exampleRequest(operation, (kind, place) => {
    if (place.startsWith('path/')) first ??= kind;
    return unknownId(kind);
  });
  return first;
}

async function fill(caller: Caller, within: Furnishing['within']): Promise<Belongings> {
  const owned = await furnish(caller, within === undefined ? {} : { within });
  await caller.post('/data-sources/connect', {
    type: TRUSTING.type,
    credentials: { base_url: 'http://localhost:9/', access_token: 'x' },
  });
  return owned;
}

interface Side {
  readonly caller: Caller;
  readonly owned: Belongings;
}

describe('one environment of an account against the other', () => {
  let house: House;
  const sides = { live: {} as Side, sandbox: {} as Side };

  beforeAll(async () => {
    house = await openHouse('one process', { clock, connectors: new Connectors([...SERVED, TRUSTING]) });
    const live = await Caller.register(house.root);
    const test = await withTestKey(house, live);
    sides.live = { caller: live, owned: await fill(live, undefined) };
    sides.sandbox = { caller: test, owned: await fill(test, 'sandbox') };
  });
  afterAll(() => house?.stop());

  const operations = CONTRACT.flatMap((operation) => pathsOf(operation).map((path) => ({ operation, path })));
  const lists = operations
    .filter(({ operation, path }) => operation.method === 'GET' && !path.includes('{') && operation.action !== null)
    .map(({ path }) => path);
  const single = operations.flatMap(({ operation, path }) => {
    const kind = firstKind(operation);
    return kind === undefined || !KINDS.has(kind) ? [] : [{ method: operation.method, operation, path, kind }];
  });
  const WAYS = [
    ['live', 'sandbox'],
    ['sandbox', 'live'],
  ] as const;

  test('there is something to keep apart', () => {
    for (const { owned } of Object.values(sides))
      expect(Object.keys(owned)).toEqual(expect.arrayContaining([...KINDS]));
    // An operation whose example names no id would be left out below.
    expect(
      operations.filter(({ operation, path }) => path.includes('{') && firstKind(operation) === undefined),
    ).toEqual([]);
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
    for (const kind of KINDS) expect(text).not.toContain(sides[whose].owned[kind]!);
  });

  test('each side sees its own', async () => {
    const read: string[] = [];
    for (const { noun, kind } of NOUNS_OF_ENVIRONMENTS) {
      const list = Object.entries<Row>(noun.operations).find(([, row]) => 'page' in row.answer)?.[0];
      const operation = CONTRACT.find(({ id }) => id === list);
      if (operation === undefined) continue;
      read.push(noun.many);
      for (const { caller, owned } of Object.values(sides)) {
        const first = firstKind(operation);
        const request = requestFor(operation, first === undefined ? '' : owned[first]!, owned);
        const { text } = await caller.get(addressOf(operation.path, { ...request, query: {} }));
        expect({ noun: noun.many, text }).toEqual({ noun: noun.many, text: expect.stringContaining(owned[kind]!) });
      }
    }
    expect(read).toEqual(expect.arrayContaining(['attributions', 'data-sources', 'experiments', 'webhooks']));
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
        const address = addressOf(path, { ...requestFor(operation, id, sides[whose].owned), query: {} });
        return sides[who].caller.send(operation.method, address, body, {
          'content-type': operation.kind === 'upload' ? 'text/csv' : 'application/json',
        });
      };
      const anonymous = ({ status, body }: Answer, id: string) =>
        `${status} ${JSON.stringify(body)
          .replaceAll(id, 'ID')
          .replaceAll(/req_\w+/g, 'REQUEST')}`;
      const [owned, unknown] = [sides[whose].owned[kind]!, unknownId(kind)];
      const foreign = await send(owned);
      expect(foreign.status).toBe(404);
      expect(anonymous(foreign, owned)).toBe(anonymous(await send(unknown), unknown));
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
    const empty: string[] = [];
    for (const { name } of rows)
      if ((await count({ accountId, environment: 'live', workspace: null }, name)) === 0) empty.push(name);
    if (empty.length > 0)
      throw new Error(`nothing fills ${empty.join(', ')}: say how their objects are made in test/contract/objects.ts`);

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
