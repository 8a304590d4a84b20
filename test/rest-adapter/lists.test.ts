import { CONTRACT } from '../../rest-adapter/contract.ts';
import type { Operation } from '../../rest-adapter/operation.ts';
import { meta as metaSchema } from '../../rest-adapter/representations/list.ts';
import { addressOf, exampleRequest } from '../contract/example-requests.ts';
import { fillAccount, type FilledAccount } from '../filled-account.ts';
import { openHouse, type Answer, type Caller, type House } from '../house.ts';

const isList = ({ querySchema }: Operation): boolean => querySchema !== undefined && 'per_page' in querySchema.shape;
const LISTS = CONTRACT.filter(isList);
/** Nobody can make an invoice here, since a month has to end; and usage counts how often it is asked for. */
const APART: ReadonlySet<string> = new Set(['getInvoice', 'getUsage', 'getAgentUsage']);
const RESOURCES = CONTRACT.filter(({ id, isResource }) => isResource === true && !APART.has(id));

let house: House;
let account: FilledAccount;
let caller: Caller;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false });
  account = await fillAccount(house.root);
  caller = account.caller;
});
afterAll(() => house?.stop());

const pathOf = (operation: Operation): string =>
  addressOf(operation.path, { ...exampleRequest(operation, (kind) => account.idFor(kind)), query: {} });

/** Their envelopes are judged anew at every reading. */
const items = (answer: Answer): readonly object[] =>
  (Object.values(answer.body).find((member) => Array.isArray(member)) as
    | readonly { trust?: unknown }[]
    | undefined)!.map(({ trust: _trust, ...item }) => item);
const links = (answer: Answer): Record<string, URL> =>
  Object.fromEntries(
    [...answer.headers.get('link')!.matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, address, relation]) => [
      relation!,
      new URL(address!),
    ]),
  );
const follow = (url: URL): Promise<Answer> => caller.get(url.href.slice(url.href.indexOf('/v1') + 3));

test('there are lists and resources to test, and every reading row is one of them', () => {
  expect(LISTS.length).toBeGreaterThanOrEqual(5);
  expect(RESOURCES.length).toBeGreaterThanOrEqual(4);
  expect(
    CONTRACT.filter(
      (operation) => operation.kind === 'read' && !isList(operation) && operation.isResource !== true,
    ).map(({ id }) => id),
  ).toEqual([]);
});

describe.each(LISTS.map((operation) => [operation.id, operation] as const))('list %s', (_id, operation) => {
  test('walks forwards and back through every entry exactly once', async () => {
    const whole = await caller.get(`${pathOf(operation)}?per_page=100`);
    expect(whole.status).toBe(200);
    const { total } = metaSchema.parse(whole.body['meta']);
    expect(total).toBe(items(whole).length);
    const seen: unknown[] = [];
    let page = await caller.get(`${pathOf(operation)}?per_page=1`);
    for (; ; page = await follow(links(page)['next']!)) {
      expect(page.body['meta']).toEqual({ page: seen.length + 1, per_page: 1, total, total_pages: total });
      expect(Object.keys(links(page))).toEqual([
        'first',
        ...(seen.length > 0 ? ['prev'] : []),
        ...(seen.length + 1 < total ? ['next'] : []),
        'last',
      ]);
      expect(links(page)['last']!.searchParams.get('page')).toBe(String(Math.max(1, total)));
      seen.push(...items(page));
      if (links(page)['next'] === undefined) break;
    }
    expect(seen).toEqual(items(whole));
    if (total > 1) expect(items(await follow(links(page)['prev']!))).toEqual([items(whole).at(-2)]);
    expect(items(await follow(links(page)['first']!))).toEqual(items(whole).slice(0, 1));
  });

  test('is empty behind its end, and leads back', async () => {
    const answer = await caller.get(`${pathOf(operation)}?page=1000&per_page=100`);
    expect(answer.status).toBe(200);
    expect(items(answer)).toEqual([]);
    expect(answer.body['meta']).toMatchObject({ page: 1000, per_page: 100 });
    expect(links(answer)['next']).toBeUndefined();
    expect(links(answer)['prev']!.searchParams.get('page')).toBe(links(answer)['last']!.searchParams.get('page'));
  });

  test.each([
    ['page=0', 'query:page'],
    ['page=-1', 'query:page'],
    ['page=1.5', 'query:page'],
    ['page=', 'query:page'],
    ['page=one', 'query:page'],
    ['page=1&page=2', 'query:page'],
    ['page=100001', 'query:page'],
    ['per_page=0', 'query:per_page'],
    ['per_page=101', 'query:per_page'],
    ['per_page=99999999999999999999', 'query:per_page'],
    ['page=1001&per_page=100', 'query:page'],
  ])('%s is 422 and names the parameter', async (query, param) => {
    const { status, body } = await caller.get(`${pathOf(operation)}?${query}`);
    expect(status).toBe(422);
    expect(body['error']).toMatchObject({
      type: 'validation_error',
      param,
      errors: [expect.objectContaining({ param })],
    });
  });

  test('says of a parameter that is repeated just that', async () => {
    expect((await caller.get(`${pathOf(operation)}?page=1&page=2`)).body['error']).toMatchObject({
      message: 'page: is given more than once',
    });
  });

  test('refuses a parameter that it does not know, with the one that may be meant', async () => {
    const answer = await caller.get(`${pathOf(operation)}?per_pge=1`);
    expect(answer.status).toBe(422);
    expect(answer.body['error']).toMatchObject({
      type: 'validation_error',
      code: 'unknown_parameter',
      param: 'query:per_pge',
      message: 'per_pge: is not known here; did you mean per_page?',
    });
  });
});

test.each([
  ['status=completed&status=failed', 'status: is given more than once'],
  ['model=markov&model=markov', 'model: is given more than once'],
  ['include=diagnostics&include=time_series', undefined],
  ['include=diagnostics&include=nothing', expect.stringMatching(/^include: must be one of /)],
])('of %s it is said that it is repeated, unless it may be', async (query, message) => {
  const { status, body } = await caller.get(`/attribution?${query}`);
  expect([status, body['error']?.['message']]).toEqual([message === undefined ? 200 : 422, message]);
});

test('a list keeps its other parameters in its links', async () => {
  const listed = LISTS.find(({ id }) => id === 'listAttributions')!;
  const answer = await caller.get(`${pathOf(listed)}?per_page=1&created_after=2026-01-01T00%3A00%3A00%2B01%3A00`);
  expect(links(answer)['last']!.searchParams.get('created_after')).toBe('2026-01-01T00:00:00+01:00');
});

describe('a filter that names nothing', () => {
  const filtered = LISTS.flatMap((operation) =>
    Object.keys(operation.querySchema!.shape)
      .filter((name) => name.endsWith('_id'))
      .map((name) => [operation.id, name, operation] as const),
  );

  test.each(filtered)(
    '%s by %s: an unknown id, a foreign kind of id and no id at all are answered alike',
    async (_id, name, operation) => {
      for (const value of [
        'ds_0351eCnEsWpxnfgWziUPLV',
        'agent_0351eCnEsWpxnfgWziUPLV',
        'nothing',
        "'; --",
        'ds_',
        'ü',
      ]) {
        const answer = await caller.get(`${pathOf(operation)}?${name}=${encodeURIComponent(value)}`);
        expect({ value, status: answer.status, items: items(answer) }).toEqual({ value, status: 200, items: [] });
      }
    },
  );
});

describe.each(RESOURCES.map((operation) => [operation.id, operation] as const))('resource %s', (_id, operation) => {
  test('has a tag that names what is shown, not when', async () => {
    const first = await caller.get(pathOf(operation));
    const tag = first.headers.get('etag')!;
    expect(tag).toMatch(/^W\/"[\w-]{27}"$/);
    const second = await caller.get(pathOf(operation));
    // The envelope was judged anew meanwhile.
    expect(
      String(second.body['trust']!['metadata']!['evaluated_at']) >
        String(first.body['trust']!['metadata']!['evaluated_at']),
    ).toBe(true);
    expect(second.headers.get('etag')).toBe(tag);

    for (const held of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      const unchanged = await caller.open('GET', pathOf(operation), undefined, { 'if-none-match': held });
      expect(unchanged.status).toBe(304);
      expect(await unchanged.text()).toBe('');
      for (const name of ['etag', 'cache-control', 'vary', 'svc-api-version', 'svc-hrei-score', 'x-request-id'])
        expect(unchanged.headers.get(name)).not.toBeNull();
      expect(unchanged.headers.get('etag')).toBe(tag);
    }
    expect((await caller.get(pathOf(operation), { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('has another tag in another version, since the body differs', async () => {
    const tags = await Promise.all(
      ['2026-02-01', '2025-11-01'].map(async (version) =>
        (await caller.get(pathOf(operation), { 'svc-api-version': version })).headers.get('etag'),
      ),
    );
    expect(tags[0]).not.toBe(tags[1]);
  });
});

test('a resource that changed has another tag', async () => {
  const source = account.idFor('ds');
  const before = (await caller.get(`/data-sources/${source}/status`)).headers.get('etag');
  await caller.send(
    'POST',
    `/data-sources/${source}/records`,
    'user_id,timestamp,channel,cost\nu9,2026-01-09T10:00:00Z,email,1\n',
    { 'content-type': 'text/csv' },
  );
  expect((await caller.get(`/data-sources/${source}/status`, { 'if-none-match': before! })).status).toBe(200);
});
