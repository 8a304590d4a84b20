import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { BASELINE, DATE_RANGE } from './reference-events.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8');
/** The same, whose orders cost 62.5 % of what they bring; of every `without`-th nobody says it. */
const withCosts = (without = Infinity): string => {
  const [head, ...rows] = EVENTS.trimEnd().split('\n');
  let orders = 0;
  const costed = rows.map((row) => {
    const [, , , , , conversion, revenue] = row.split(',');
    if (conversion !== '1') return `${row},`;
    orders += 1;
    return `${row},${orders % without === 0 ? '' : Number(revenue) * 0.625}`;
  });
  return [`${head},cogs`, ...costed].join('\n');
};

type Row = Readonly<Record<string, unknown>>;

describe.each(LAYOUTS)('profit beside revenue, %s', (layout) => {
  let house: House;
  let caller: Caller;

  const connect = async (content: string, more: object = {}) =>
    await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { filename: 'events.csv', content },
      baseline_channels: BASELINE,
      ...more,
    });
  const idOf = ({ body }: { readonly body: Json }) => String(body['data_source_id']);
  const run = async (source: string, more: object = {}) =>
    (await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, ...more })).body;
  const impactOf = (body: Json) => body['channel_impact'] as unknown as readonly Row[];
  const warningsOf = (body: Json) => (body['diagnostics'] as unknown as { warnings: readonly string[] }).warnings;
  const graph = async (query: string) => {
    const response = await fetch(`${house.root}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${caller.key}`,
        'x-nonce': randomUUID(),
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ query }),
    });
    return (await response.json()) as { readonly data: Record<string, Json>; readonly errors?: readonly Json[] };
  };
  const download = async (of: Json, what: string) =>
    (await caller.open('GET', `/attribution/${String(of['id'])}/${what}`)).text();

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    caller = await Caller.register(house.root);
  });
  afterAll(() => house?.stop());

  test('without a margin nothing of it is there; the page says so once', async () => {
    const connected = await connect(EVENTS);
    const source = idOf(connected);
    expect((await caller.get(`/data-sources/${source}/status`)).body).toMatchObject({ margin: null });
    const analysis = await run(source);
    expect(analysis['status']).toBe('completed');
    expect(JSON.stringify(analysis)).not.toMatch(/profit/);
    expect(await download(analysis, 'export?format=csv')).not.toContain('profit');
    expect((await download(analysis, 'report')).split('at a margin of 100 %')).toHaveLength(2);
  });

  test('the margin of a source counts, that of a request before it; designs and report follow', async () => {
    const source = idOf(await connect(EVENTS, { margin: 0.5 }));
    expect((await caller.get(`/data-sources/${source}/status`)).body).toMatchObject({ margin: 0.5 });
    const analysis = await run(source);
    expect(analysis['profitability']).toEqual({ margin: 0.5, origin: 'setting' });
    const paid = impactOf(analysis).filter((channel) => channel['is_baseline'] === false);
    expect(paid.length).toBeGreaterThan(4);
    for (const { spend, attributed_revenue: credit, confidence_interval: interval, ...channel } of paid as never as {
      readonly spend: number;
      readonly attributed_revenue: number;
      readonly confidence_interval: { readonly lower: number; readonly upper: number };
      readonly profit: number;
      readonly profit_interval: { readonly lower: number; readonly upper: number };
      readonly profit_roas: number;
    }[]) {
      expect(Math.abs(channel.profit - (credit / 2 - spend))).toBeLessThan(0.011);
      expect(Math.abs(channel.profit_interval.lower - (interval.lower / 2 - spend))).toBeLessThan(0.011);
      expect(Math.abs(channel.profit_interval.upper - (interval.upper / 2 - spend))).toBeLessThan(0.011);
      // The spend of some is so small that its cents move the ratio.
      expect(channel.profit_roas / (credit / 2 / spend)).toBeCloseTo(1, 2);
    }
    for (const channel of impactOf(analysis).filter((each) => each['is_baseline'] === true))
      expect(Object.keys(channel).filter((name) => name.startsWith('profit'))).toEqual([]);
    expect(await download(analysis, 'report')).toContain(
      'At a margin of 50 % (that of the source) that is a profit of',
    );

    const designs = (await caller.get(`/experiments/designs?data_source_id=${source}`)).body['designs'] as never as {
      readonly channel: string;
      readonly decision: { readonly breakeven_revenue: number };
    }[];
    const spendOf = new Map(paid.map((channel) => [String(channel['channel']), Number(channel['spend'])]));
    for (const { channel, decision } of designs.filter((each) => spendOf.has(each.channel)))
      expect(Math.abs(decision.breakeven_revenue - 2 * spendOf.get(channel)!)).toBeLessThan(0.011);

    const asked = await run(source, { margin: 0.25 });
    expect(asked['profitability']).toEqual({ margin: 0.25, origin: 'request' });
    expect(impactOf(asked).map((each) => each['attributed_revenue'])).toEqual(
      impactOf(analysis).map((each) => each['attributed_revenue']),
    );
    const verified = await caller.post('/verify', { jws: asked['signature'], result: asked });
    expect(verified.body).toMatchObject({ valid: true, digest_match: true });
    const forged = { ...asked, profitability: { margin: 0.9, origin: 'request' } };
    expect((await caller.post('/verify', { jws: asked['signature'], result: forged })).body).toMatchObject({
      valid: false,
      reason: 'digest_mismatch',
    });
  });

  test('orders that say what their goods cost come before the source; exports have columns of profit', async () => {
    const source = idOf(await connect(withCosts(), { margin: 0.9 }));
    const analysis = await run(source);
    expect(analysis['profitability']).toEqual({ margin: 0.375, origin: 'orders' });
    const rows = parse(await download(analysis, 'export?format=csv'), { columns: true }) as Record<string, string>[];
    expect(Object.keys(rows[0]!).slice(-4)).toEqual(['profit', 'profit_lower', 'profit_upper', 'profit_roas']);
    const known = (value: unknown): string => (value === null ? '' : String(value));
    expect(rows.map((row) => [row['profit'], row['profit_lower'], row['profit_roas']].map(known))).toEqual(
      impactOf(analysis).map(({ profit = null, profit_interval: interval, profit_roas: roas = null }) =>
        [profit, (interval as { lower?: number } | undefined)?.lower ?? null, roas].map(known),
      ),
    );
    expect((await run(source, { margin: 0.2 }))['profitability']).toEqual({ margin: 0.2, origin: 'request' });
    // One of eight says nothing: fewer than 90 % of the revenue.
    const partial = await run(idOf(await connect(withCosts(8), { margin: 0.9 })));
    expect(partial['profitability']).toEqual({ margin: 0.9, origin: 'setting' });
    expect(warningsOf(partial).join(' ')).toMatch(/bring 8\d(\.\d)? % of the revenue, less than 90 %/);
    const unsaid = await run(idOf(await connect(withCosts(8))));
    expect(unsaid['profitability']).toBeUndefined();
    expect(warningsOf(unsaid).join(' ')).toContain('profit is not told');
  });

  test('costs of goods that come late make a new revision', async () => {
    const source = idOf(await connect(EVENTS));
    const asked = await run(source, { auto_refresh: true });
    const stated = await run(source, { auto_refresh: true, margin: 0.2 });
    expect([asked['status'], asked['profitability']]).toEqual(['completed', undefined]);
    const csv = { 'content-type': 'text/csv' };
    const sent = await caller.send('POST', `/data-sources/${source}/records`, withCosts(), csv);
    expect(sent.status).toBe(202);
    const read = async (of: Json) => (await caller.get(`/attribution/${String(of['id'])}`)).body;
    let now = await read(asked);
    for (
      let tries = 0;
      tries < 120 && (String(now['revision']) !== '2' || String(now['status']) !== 'completed');
      tries += 1
    ) {
      await sleep(250);
      now = await read(asked);
    }
    expect(now).toMatchObject({ revision: 2, profitability: { margin: 0.375, origin: 'orders' } });
    expect(now['revenue']).toBe(asked['revenue']);
    expect(await read(stated)).toMatchObject({ revision: 1, profitability: { margin: 0.2, origin: 'request' } });
  }, 60_000);

  test('GraphQL says and takes the same', async () => {
    const connected = await graph(`mutation { connectDataSource(input: { type: CSV_UPLOAD, margin: 0.5,
      credentials: {}, baselineChannels: ["direct", "organic*"] }) { dataSource { id margin } } }`);
    const source = connected.data['connectDataSource']!['dataSource'] as Json;
    expect(source).toMatchObject({ margin: 0.5 });
    const csv = { 'content-type': 'text/csv' };
    await caller.send('POST', `/data-sources/${String(source['id'])}/records`, EVENTS, csv);
    const body = await run(String(source['id']), { margin: 0.4 });
    const { data } = await graph(`{ attribution(id: "${String(body['id'])}") { profitability { margin origin }
      channelImpact { channel profit profitInterval { lower upper level } profitRoas } } }`);
    expect(data['attribution']).toMatchObject({ profitability: { margin: 0.4, origin: 'REQUEST' } });
    expect(data['attribution']!['channelImpact']).toEqual(
      impactOf(body).map((each) => ({
        channel: each['channel'],
        profit: each['profit'] ?? null,
        profitInterval: each['profit_interval'] ?? null,
        profitRoas: each['profit_roas'] ?? null,
      })),
    );
    const ran = await graph(`mutation { runAttribution(input: { dataSourceId: "${String(source['id'])}",
      dateRange: ["2025-01-06", "2025-04-05"], margin: 0.3, model: SHAPLEY }) { attribution { id } } }`);
    const id = String((ran.data['runAttribution']!['attribution'] as Json)['id']);
    const done = await caller.get(`/attribution/${id}`, { prefer: 'wait=30' });
    expect(done.body['id']).toBe(id);
  });

  test.each([0, -0.1, 1.01, '0.5', 1e-9])('%j is no margin, of a request or a source', async (margin) => {
    for (const [path, body] of [
      ['/attribution', { data_source_id: 'ds_01JQ2kZr5uHn4GdPaLxWqB', date_range: DATE_RANGE, margin }],
      ['/data-sources/connect', { type: 'csv_upload', credentials: {}, margin }],
    ] as const) {
      const answer = await caller.post(path, body);
      expect([path, answer.status, answer.body['error']]).toMatchObject([path, 422, { param: '/margin' }]);
    }
    const refused = await graph(`mutation { runAttribution(input: { dataSourceId: "ds_01JQ2kZr5uHn4GdPaLxWqB",
      dateRange: ["2025-01-06", "2025-04-05"], margin: ${typeof margin === 'string' ? '"x"' : margin} })
      { attribution { id } } }`);
    expect(refused.errors).toHaveLength(1);
  });
});
