import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Caller, openHouse, type Answer, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { withTestKey } from '../test-key.ts';

/*
 * A shop of four files: orders by e-mail address, touches by cookie, spend by the vendors' names, and who is whom.
 */

const RANGE = ['2026-01-01', '2026-01-31'];
const USERS = 60;
const CHANNELS = ['meta_ads', 'google_ads', 'email', 'direct'];
const address = (user: number): string => `  Shopper.${user}@Example.COM `;
const cookie = (user: number, device: number): string => `cookie-${user}-${device}`;
const at = (hours: number): string => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString();

interface Names {
  readonly buyer: (user: number) => string;
  readonly visitor: (user: number, device: number) => string;
  readonly spender: (channel: string) => string;
}
const TOLD_APART: Names = {
  buyer: address,
  visitor: cookie,
  spender: (channel) => ({ meta_ads: 'Facebook', google_ads: 'Google Ads' })[channel] ?? channel.toUpperCase(),
};
const TOLD_ALIKE: Names = { buyer: String, visitor: (user) => String(user), spender: (channel) => channel };

function filesOf({ buyer, visitor, spender }: Names) {
  const touches = Array.from({ length: 400 }, (_, place) => {
    const user = (place * 7) % USERS;
    return `${visitor(user, place % 2)},${at(place * 1.7)},${CHANNELS[(place + (place >> 3)) % 4]!}`;
  });
  const orders = Array.from(
    { length: 45 },
    (_, place) => `o${place},${buyer((place * 11) % USERS)},${at(place * 15 + 60)},${20 + place},EUR`,
  );
  const spend = Array.from({ length: 60 }, (_, place) => {
    const channel = CHANNELS[place % 3]!;
    return `2026-01-${String(1 + (place % 30)).padStart(2, '0')},${spender(channel)},${5 + (place % 9)},EUR`;
  });
  const pairs = Array.from({ length: 2 * USERS }, (_, place) => {
    const user = place >> 1;
    return `${cookie(user, place % 2)},${address(user).trim().toLowerCase()}`;
  });
  return {
    touches: ['user_id,timestamp,channel', ...touches].join('\n'),
    orders: ['order_id,user_id,timestamp,revenue,currency', ...orders].join('\n'),
    spend: ['date,channel,spend,currency', ...spend].join('\n'),
    identities: ['id,same_as', ...pairs].join('\n'),
  };
}

describe('one shop from many files', () => {
  let house: House;
  let caller: Caller;
  const files = filesOf(TOLD_APART);
  const ids = { orders: '', touches: '', spend: '', identities: '', whole: '' };

  const connect = async (as: Caller = caller, members: object = {}): Promise<string> =>
    String(
      (await as.post('/data-sources/connect', { type: 'csv_upload', credentials: {}, ...members })).body[
        'data_source_id'
      ],
    );
  const send = (id: string, file: string, as: Caller = caller): Promise<Answer> =>
    as.send('POST', `/data-sources/${id}/records`, file, { 'content-type': 'text/csv' });
  const analyse = (members: object, as: Caller = caller): Promise<Answer> =>
    as.post('/attribution', { date_range: RANGE, model: 'markov', ...members });
  const status = async (id: string): Promise<Json> => (await caller.get(`/data-sources/${id}/status`)).body;
  const ALL = () => [ids.orders, ids.touches, ids.spend, ids.identities];
  const figuresOf = (run: Json) => ({
    status: run['status'],
    revenue: run['revenue'],
    series: run['time_series'],
    channels: (run['channel_impact'] as unknown as Json[]).map((each) =>
      Object.entries(each).filter(([name]) => !name.startsWith('confidence')),
    ),
  });
  const untilQuiet = async (): Promise<void> => {
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    const busy =
      `select 1 from jobs.job where name in ('data-source.late-rows', 'attribution.refresh') and state ` +
      `in ('created', 'retry', 'active')`;
    try {
      while ((await owner.query(busy)).rows.length > 0) await sleep(50);
    } finally {
      await owner.end();
    }
  };

  const answers: Answer[] = [];
  beforeAll(async () => {
    house = await openHouse('one process', { clock });
    caller = await Caller.register(house.root);
    for (const name of ['orders', 'touches', 'spend', 'identities'] as const) {
      ids[name] = await connect();
      answers.push(await send(ids[name], files[name]));
    }
    ids.whole = await connect();
    const { touches, orders, spend } = filesOf(TOLD_ALIKE);
    for (const file of [touches, orders, spend]) answers.push(await send(ids.whole, file));
  });

  afterAll(() => house?.stop());

  test('every row of every file is taken', () => {
    expect(answers).toHaveLength(7);
    for (const answer of answers) expect(answer).toMatchObject({ status: 202, body: { rejected: 0, warnings: [] } });
  });

  test('what is wrong with the names of spend is told with the rule that mends it', async () => {
    const { body } = await analyse({ data_source_ids: ALL() });
    const warnings = body['diagnostics']!['warnings'] as unknown as string[];
    expect(warnings.join('\n')).toContain('{"match":{"channel":"Facebook"},"channel":"meta_ads"}');
    const both = await connect();
    await send(both, files.touches);
    const said = await send(both, files.spend);
    expect((said.body['warnings'] as unknown as string[]).join('\n')).toContain(
      '{"match":{"channel":"EMAIL"},"channel":"email"}',
    );
    const rules = warnings.flatMap((warning) => {
      const rule = /set the channel rule (\{.*\})\.$/.exec(warning)?.[1];
      return rule === undefined ? [] : [JSON.parse(rule) as unknown];
    });
    expect(rules).toHaveLength(3);
    const set = await caller.send('PUT', `/data-sources/${ids.spend}/channel-rules`, JSON.stringify({ rules }), {
      'content-type': 'application/json',
    });
    expect(set.status).toBe(200);
    const mended = await analyse({ data_source_ids: ALL() });
    expect(mended.body['diagnostics']!['warnings']).not.toContain(expect.stringContaining('Spend says'));
  });

  test('four files tell what one would in which each person has one id', async () => {
    const [joined, whole] = [await analyse({ data_source_ids: ALL() }), await analyse({ data_source_id: ids.whole })];
    expect(joined.body).toMatchObject({
      status: 'completed',
      data_source_id: ids.orders,
      data_source_ids: ALL(),
      currency: 'EUR',
      diagnostics: { stitching: { pairs: 2 * USERS, people: USERS, user_match_rate: 0 } },
    });
    expect(joined.body['diagnostics']!['stitching']!['stitched_user_match_rate']).toBeGreaterThan(0.9);
    expect(figuresOf(joined.body)).toEqual(figuresOf(whole.body));
    expect(whole.body).not.toHaveProperty('data_source_ids');
    expect(whole.body['diagnostics']).not.toHaveProperty('stitching');
    const exported = async (run: Answer): Promise<string> =>
      (await caller.open('GET', `/attribution/${String(run.body['id'])}/export?format=csv&level=paths`)).text();
    expect(await exported(joined)).toBe(await exported(whole));
    // It is signed with all that it says, and its evidence is on record.
    const { body: verified } = await caller.post('/verify', { result: joined.body });
    expect(verified).toMatchObject({ valid: true, digest_match: true });
    expect(joined.body['trust']).toMatchObject({ verification: { model_run_traceable: true } });
    for (const each of ALL())
      expect((await caller.get(`/attribution?data_source_id=${each}&per_page=1`)).body['data']![0]).toMatchObject({
        id: joined.body['id'],
      });
  });

  test('the graph answers the same', async () => {
    const { data } = await caller.graphql(
      `mutation ($input: RunAttributionInput!) { runAttribution(input: $input) { attribution {
        id dataSourceId dataSourceIds } } }`,
      { input: { dataSourceIds: ALL(), dateRange: RANGE, model: 'MARKOV' } },
    );
    expect(data!['runAttribution']!['attribution']).toMatchObject({ dataSourceId: ids.orders, dataSourceIds: ALL() });
    const { data: detail } = await caller.graphql(
      'query ($id: ID!) { dataSource(id: $id) { ' +
        'detail { records { identities fxRates } quality { userMatchRate } } } }',
      { id: ids.identities },
    );
    expect(detail!['dataSource']!['detail']).toEqual({ records: { identities: 2 * USERS, fxRates: 0 }, quality: null });
  });

  test('a brand stands for its sources', async () => {
    const brand_id = 'slow-shoes';
    const ofBrand: string[] = [];
    for (const file of [files.orders, files.touches, files.identities]) {
      const id = await connect(caller, { brand_id });
      await send(id, file);
      ofBrand.push(id);
    }
    expect((await analyse({ brand_id })).body).toMatchObject({ status: 'completed', data_source_ids: ofBrand });
    expect(await analyse({ brand_id: 'no-shoes' })).toMatchObject({
      status: 404,
      body: { error: { type: 'resource_not_found', param: '/brand_id' } },
    });
  });

  test('sources are named once, and another tenant’s is not there', async () => {
    const stranger = await Caller.register(house.root);
    const theirs = await connect(stranger);
    await send(theirs, files.touches, stranger);
    expect(await analyse({ data_source_ids: [ids.orders, theirs] })).toMatchObject({
      status: 404,
      body: { error: { type: 'resource_not_found', param: '/data_source_ids/1' } },
    });
    const fault = (code: string, param: string) => ({ status: 422, body: { error: { code, param } } });
    expect(await analyse({})).toMatchObject(fault('required', '/data_source_id'));
    expect(await analyse({ data_source_id: ids.orders, brand_id: 'x' })).toMatchObject(
      fault('mutually_exclusive', '/data_source_id'),
    );
    expect(await analyse({ data_source_ids: [ids.orders] })).toMatchObject(fault('too_small', '/data_source_ids'));
    expect((await analyse({ data_source_ids: [ids.orders, ids.orders] })).status).toBe(422);
    expect((await analyse({ data_source_ids: Array.from({ length: 21 }, (_, place) => `ds_${place}`) })).status).toBe(
      422,
    );
    const empty = await connect();
    expect(await analyse({ data_source_ids: [ids.orders, empty] })).toMatchObject({
      status: 409,
      body: {
        error: {
          type: 'data_source_unavailable',
          code: 'never_synced',
          message: expect.stringContaining(empty),
          param: '/data_source_ids/1',
        },
      },
    });
  });

  test('sums in two currencies are refused with what each source holds', async () => {
    const dollars = await connect();
    await send(dollars, 'date,channel,spend,currency\n2026-01-02,email,5,USD\n');
    const refused = await analyse({ data_source_ids: [ids.orders, dollars] });
    expect(refused).toMatchObject({
      status: 422,
      body: { error: { code: 'mixed_currencies', param: '/data_source_ids' } },
    });
    expect(refused.body['error']!['message']).toMatch(
      /EUR \(ds_\w+: 45 conversions\), USD \(ds_\w+: 1 rows of spend\)/,
    );
  });

  test('rates of exchange are kept and counted', async () => {
    const id = await connect();
    const sent = await send(
      id,
      'date,currency,rate\n2026-01-02,usd,0.92\n2026-01-03,USD,0.93\n2026-01-03,USD,0\n2026-01-03,dollars,1\n',
    );
    expect(sent.body).toMatchObject({
      kind: 'fx',
      accepted: 2,
      rejected: 2,
      errors: [{ code: 'not_a_rate' }, { code: 'not_a_currency' }],
    });
    expect(await status(id)).toMatchObject({ records: { fx_rates: 2, identities: 0 }, quality: null });
  });

  test('the source that holds orders and identities tells the match before and after', async () => {
    const id = await connect();
    for (const name of ['orders', 'touches', 'identities'] as const) await send(id, files[name]);
    const { quality } = await status(id);
    expect(quality).toMatchObject({ user_match_rate: 0 });
    expect(quality!['stitched_user_match_rate']).toBeGreaterThan(0.9);
    expect(quality!['touchpoint_match_rate']).toBeGreaterThan(0.9);
    // No address is told of the orders, whatever is asked.
    expect(JSON.stringify(await status(id))).not.toContain('example.com');
  });

  test('auto_refresh follows each of the sources: their rows, and who is whom', async () => {
    const [orders, touches, identities] = [await connect(), await connect(), await connect()];
    await send(orders, files.orders);
    await send(touches, files.touches);
    await send(identities, files.identities);
    const data_source_ids = [orders, touches, identities];
    const first = await analyse({ data_source_ids, auto_refresh: true });
    expect(first.body).toMatchObject({ status: 'completed', revision: 1 });
    const refreshed = async (): Promise<Json> => {
      await untilQuiet();
      return (await caller.get(`/attribution/${String(first.body['id'])}`)).body;
    };
    await send(identities, 'id,same_as\ncookie-1-0,cookie-2-0\n');
    const stitchedAnew = await refreshed();
    expect(stitchedAnew).toMatchObject({ status: 'completed', revision: 2, revenue: first.body['revenue'] });
    expect(figuresOf(stitchedAnew)).not.toEqual(figuresOf(first.body));
    await send(orders, `order_id,user_id,timestamp,revenue\nlate,${address(3)},${at(600)},500\n`);
    expect(await refreshed()).toMatchObject({ revision: 3 });
    // Without one of its sources it stays what it was, and can be read.
    await caller.delete(`/data-sources/${touches}`);
    await send(orders, `order_id,user_id,timestamp,revenue\nlater,${address(3)},${at(600)},500\n`);
    const left = await refreshed();
    expect(left).toMatchObject({
      status: 'completed',
      revision: 3,
      trust: { verification: { model_run_traceable: false } },
    });
    expect((await analyse({ data_source_ids })).status).toBe(404);
  });

  test('sources of the sandbox are read together, too', async () => {
    const tester = await withTestKey(house, caller);
    const data_source_ids = ['ds_sandbox_shopify', 'ds_sandbox_ga4'];
    const { status: answered, body } = await analyse({ data_source_ids }, tester);
    expect({ answered, body }).toMatchObject({
      answered: 200,
      body: { status: 'completed', environment: 'sandbox', data_source_id: expect.any(String) },
    });
    expect(body['data_source_ids']).toHaveLength(2);
  });
});
