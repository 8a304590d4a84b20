import { Caller, openHouse, type House, type Json } from '../house.ts';
import { csvOf, PLANTED_RANGE, plantedShop, withRows, type PlantedRow, type PlantedShop } from '../planted-shop.ts';
import { clock } from '../service-clock.ts';

interface Check {
  readonly code: string;
  readonly severity: string;
  readonly value: number;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly message: string;
  readonly remedy: string;
}

let house: House;
let caller: Caller;
beforeAll(async () => {
  house = await openHouse('one process', { clock });
  caller = await Caller.register(house.root);
});
afterAll(() => house?.stop());

const send = async (id: string, rows: readonly PlantedRow[]): Promise<void> => {
  const csv = { 'content-type': 'text/csv' };
  expect((await caller.send('POST', `/data-sources/${id}/records`, csvOf(rows), csv)).status).toBe(202);
};
const connect = async ({ touches, orders, spend }: PlantedShop): Promise<string> => {
  const connected = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
  const id = String(connected.body['data_source_id']);
  for (const rows of [touches, orders, spend]) await send(id, rows);
  return id;
};
const analyse = (id: string, more: object = {}) =>
  caller.post('/attribution', { data_source_id: id, date_range: PLANTED_RANGE, ...more });
const checksIn = (body: unknown): readonly Check[] => (body as { readonly checks: readonly Check[] }).checks;
const found = (checks: readonly Check[]): string[] => checks.map(({ severity, code }) => `${severity} ${code}`);
const errorOf = (body: Json) => body['error'] as unknown as Json;
/** Users of whom no touch knows. */
const strangers = (isStranger: (user: number) => boolean) =>
  withRows('orders', (row) =>
    isStranger(Number(String(row['user_id']).slice(1))) ? { ...row, user_id: `${row['user_id']}@shop.example` } : row,
  );
const MATCHES = ['blocking order_match_rate', 'blocking user_match_rate'];

test('good rows are good, on the source and in the result, and the signature covers that', async () => {
  const id = await connect(plantedShop());
  const source = await caller.get(`/data-sources/${id}/quality`);
  expect(source).toMatchObject({ status: 200, body: { status: 'good', checks: [], trust: { hrei_score: 0 } } });
  const { body: result } = await analyse(id);
  expect(result).toMatchObject({ status: 'completed', data_quality: { status: 'good', checks: [] } });
  expect((await caller.post('/verify', { result })).body).toMatchObject({ valid: true, digest_match: true });
  const changed = { ...result, data_quality: { status: 'warning', checks: [] } };
  expect((await caller.post('/verify', { result: changed })).body).toMatchObject({ digest_match: false });
  const { data } = await caller.graphql(
    `{ dataQuality(dataSourceId: "${id}") { status checks { code } }
       attribution(id: "${String(result['id'])}") { dataQuality { status checks { code } } } }`,
  );
  expect(data).toEqual({
    dataQuality: { status: 'GOOD', checks: [] },
    attribution: { dataQuality: { status: 'GOOD', checks: [] } },
  });
});

test('where rows are too bad for an answer, designs of experiments are refused as the analysis is', async () => {
  const id = await connect(strangers((user) => user % 4 > 0));
  const question = `/experiments/designs?data_source_id=${id}&date_range=${PLANTED_RANGE.join(',')}`;
  for (let time = 0; time < 2; time++) {
    const { status, body } = await caller.get(question, { prefer: 'wait=60' });
    expect([status, errorOf(body)]).toEqual([
      422,
      expect.objectContaining({ code: 'data_quality_insufficient', param: 'query:data_source_id' }),
    ]);
  }
});

test.each([
  ['no order is of a user with touches', strangers(() => true), 0],
  ['three quarters of them are not', strangers((user) => user % 4 > 0), 0.25],
])('where %s, the analysis is refused through both doors', async (_what, shop, rate) => {
  const id = await connect(shop);
  const refused = await analyse(id);
  expect(refused.status).toBe(422);
  const error = errorOf(refused.body);
  expect(error).toMatchObject({
    type: 'validation_error',
    code: 'data_quality_insufficient',
    param: '/data_source_id',
    message: expect.stringMatching(/not good enough.*accept_quality: \["order_match_rate","user_match_rate"\]/),
  });
  const checks = error['data_quality'] as unknown as readonly Check[];
  expect(found(checks)).toEqual(MATCHES);
  expect(checks[0]).toMatchObject({ value: rate, threshold: 0.4, currency: 'USD' });
  const revenue = shop.orders.reduce(
    (sum, row) => sum + (String(row['user_id']).includes('@') ? Number(row['revenue']) : 0),
    0,
  );
  expect(checks[0]!.amount).toBe(revenue);

  const { errors } = await caller.graphql(
    `mutation { runAttribution(input: { dataSourceId: "${id}", dateRange: ${JSON.stringify(PLANTED_RANGE)} }) {
      attribution { id } } }`,
  );
  expect(errors?.[0]?.extensions).toMatchObject({
    code: 'VALIDATION_ERROR',
    reason: 'data_quality_insufficient',
    param: '/data_source_id',
    data_quality: checks,
  });
  expect(errors?.[0]?.message).toContain('acceptQuality: [ORDER_MATCH_RATE, USER_MATCH_RATE] in GraphQL');
  expect((await caller.get('/attribution')).body['data']).not.toContainEqual(
    expect.objectContaining({ data_source_id: id }),
  );
  expect(found(checksIn((await caller.get(`/data-sources/${id}/quality`)).body))).toEqual(MATCHES);
});

test('what is accepted stands first in the result, and no risk is minimal, no confidence high', async () => {
  const id = await connect(strangers((user) => user % 4 > 0));
  const sound = (await analyse(await connect(plantedShop()))).body;
  const partly = await analyse(id, { accept_quality: ['order_match_rate'] });
  expect([partly.status, errorOf(partly.body)['code']]).toEqual([422, 'data_quality_insufficient']);
  const accepted = await analyse(id, { accept_quality: ['order_match_rate', 'user_match_rate'] });
  expect(accepted).toMatchObject({ status: 200, body: { status: 'completed', data_quality: { status: 'blocking' } } });
  const { body } = accepted;
  expect(found(checksIn(body['data_quality'])).slice(0, 2)).toEqual(MATCHES);
  const trust = body['trust'] as unknown as {
    readonly risk_level: string;
    readonly components: Record<string, { readonly score: number; readonly classifications?: readonly string[] }>;
  };
  expect(trust.risk_level).not.toBe('minimal');
  expect([trust.components['attribution']?.score, trust.components['provenance']?.score]).toEqual([1, 1]);
  expect(trust.components['taxonomy']?.classifications).toContain('misattribution');
  expect(Number(sound['confidence'])).toBeGreaterThan(0.1);
  expect(Number(body['confidence'])).toBeLessThan(Number(sound['confidence']) / 2);
  expect((await caller.post('/verify', { result: body })).body).toMatchObject({ valid: true });

  const said = await caller.graphql(
    `mutation { runAttribution(input: { dataSourceId: "${id}", dateRange: ${JSON.stringify(PLANTED_RANGE)},
      acceptQuality: [USER_MATCH_RATE, ORDER_MATCH_RATE] }) { attribution { status } } }`,
  );
  expect(said.errors).toBeUndefined();
  const unknown = await analyse(id, { accept_quality: ['everything'] });
  expect([unknown.status, errorOf(unknown.body)['param']]).toEqual([422, '/accept_quality/0']);
});

test('a few strangers are a warning', async () => {
  const id = await connect(strangers((user) => user % 5 < 2));
  const { body } = await analyse(id);
  expect(body).toMatchObject({ status: 'completed', data_quality: { status: 'warning' } });
  expect(found(checksIn(body['data_quality']))).toEqual(['warning order_match_rate', 'warning user_match_rate']);
  expect(body['trust']).toMatchObject({ components: { attribution: { score: 0.5 }, provenance: { score: 0.5 } } });
});

test('spend under names that the touches have not is told, and by which rule they meet', async () => {
  const names: Record<string, string> = { meta_ads: 'Facebook', email: 'EMAIL' };
  const id = await connect(
    withRows('spend', (row) => ({ ...row, channel: names[String(row['channel'])] ?? row['channel']! })),
  );
  const { body } = await analyse(id);
  const checks = checksIn(body['data_quality']);
  expect(found(checks)).toEqual(['warning spend_without_touches', 'warning touches_without_spend']);
  expect(checks[0]).toMatchObject({
    amount: 28 * 42,
    message: expect.stringContaining('Facebook (1,120.00 USD), EMAIL (56.00 USD)'),
  });
  const rules = [...checks[0]!.remedy.matchAll(/\{"match":.*?\}.*?\}/g)].map(([rule]) => JSON.parse(rule) as Json);
  const put = await caller.send('PUT', `/data-sources/${id}/channel-rules`, JSON.stringify({ rules }), {
    'content-type': 'application/json',
  });
  expect(put.status).toBe(200);
  expect((await caller.get(`/data-sources/${id}/quality`)).body).toMatchObject({ status: 'good', checks: [] });
  expect((await analyse(id)).body).toMatchObject({ data_quality: { status: 'good' } });
});

test('orders in three currencies are not even stored', async () => {
  const currencies = ['USD', 'EUR', 'GBP'];
  const { orders, ...shop } = withRows('orders', (row, place) => ({ ...row, currency: currencies[place % 3]! }));
  const id = await connect({ ...shop, orders: plantedShop().orders.slice(0, 1) });
  const refused = await caller.send('POST', `/data-sources/${id}/records`, csvOf(orders), {
    'content-type': 'text/csv',
  });
  expect(refused.status).toBe(422);
  expect(errorOf(refused.body)).toMatchObject({
    code: 'mixed_currencies',
    message: expect.stringMatching(/EUR [\d.]+ in \d+ rows, GBP [\d.]+ in \d+ rows|GBP .* EUR /),
  });
  expect((await caller.get(`/data-sources/${id}/status`)).body).toMatchObject({ records: { conversions: 1 } });
});

test('large orders that were rejected refuse the analysis until the file comes again, mended', async () => {
  const id = await connect(
    withRows('orders', (row) => (Number(row['revenue']) > 110 ? { ...row, timestamp: 'to be told' } : row)),
  );
  const refused = await analyse(id);
  const checks = errorOf(refused.body)['data_quality'] as unknown as readonly Check[];
  expect([refused.status, found(checks)]).toEqual([422, ['blocking rejected_revenue']]);
  expect(checks[0]!.amount).toBeGreaterThan(5_000);
  expect(checks[0]!.message).toMatch(/orders were rejected, and with them .*USD, \d/);
  expect((await analyse(id, { accept_quality: ['rejected_revenue'] })).body).toMatchObject({
    status: 'completed',
    data_quality: { status: 'blocking' },
  });

  await send(id, plantedShop().orders);
  expect((await caller.get(`/data-sources/${id}/quality`)).body).toMatchObject({ status: 'good', checks: [] });
  expect((await analyse(id)).body).toMatchObject({ status: 'completed', data_quality: { status: 'good' } });
});

test('what only the run finds fails it, unbilled, with the same words', async () => {
  const id = await connect(
    withRows('orders', (row, place) => [row, ...(place % 3 === 0 ? [{ ...row, order_id: `#${place}` }] : [])]),
  );
  const { status, body } = await analyse(id);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: 'failed',
    platform_fee_cents: null,
    failure: {
      code: 'data_quality_insufficient',
      message: expect.stringMatching(/look like another of the same user.*accept_quality: \["duplicate_orders"\]/),
    },
  });
  expect(Object.hasOwn(body, 'data_quality')).toBe(false);
  const { data } = await caller.graphql(`{ attribution(id: "${String(body['id'])}") { failure { code } } }`);
  expect(data).toEqual({ attribution: { failure: { code: 'DATA_QUALITY_INSUFFICIENT' } } });
  const stream = await (await caller.open('GET', `/attribution/${String(body['id'])}/stream`)).text();
  expect(stream).toMatch(/event: error\ndata: \{"error":\{"type":"validation_error".*"data_quality_insufficient"/);
  expect((await analyse(id, { accept_quality: ['duplicate_orders'] })).body).toMatchObject({ status: 'completed' });
});

test('the quality of a source is nobody else’s to read', async () => {
  const id = await connect(plantedShop());
  const other = await Caller.register(house.root);
  expect((await other.get(`/data-sources/${id}/quality`)).status).toBe(404);
});

test('of a source without rows nobody can say that they are good', async () => {
  const { body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
  const id = String(body['data_source_id']);
  const refused = { type: 'data_source_unavailable', code: 'never_synced' };
  expect(await caller.get(`/data-sources/${id}/quality`)).toMatchObject({ status: 409, body: { error: refused } });
  const { errors } = await caller.graphql(`{ dataQuality(dataSourceId: "${id}") { status } }`);
  expect(errors?.[0]?.extensions).toMatchObject({ type: refused.type, reason: refused.code });
});
