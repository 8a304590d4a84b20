import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { asOwner, dayOf, OddShop, RANGE } from './odd-shop.ts';

/** More than cents can be counted in. */
const ABSURD = '99999999999999';
const SENTENCES = /^\S.{20,}\.$/;

describe.each(LAYOUTS)('values that no upload may bring, stored already, %s', (layout) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(layout, { clock });
  });
  afterAll(() => house?.stop());

  test('days of other centuries count in the totals and break nothing', async () => {
    const shop = await OddShop.open(house);
    await shop.send('date,channel,spend\n2026-09-03,email,5\n');
    const before = await shop.run({ include: ['diagnostics'] });
    await shop.store(
      'spend',
      ['1900-01-02', '2299-12-31'].map((date) => ({ date, channel: 'email', spend: '5' })),
    );
    // The last day that four digits can write lies beyond what the engine reads as text.
    const columns = 'account_id, data_source_id, date, channel, campaign, spend, impressions, clicks, version';
    await house.backing.clickhouse.command(
      `INSERT INTO spend (${columns}) SELECT '${shop.key.accountId}', '${shop.key.dataSourceId}', CAST(2932896 AS ` +
        `Date32), 'email', '', 5, 0, 0, 1`,
    );
    await shop.store(
      'touchpoints',
      ['1900-01-02 10:00:00.000', '2299-12-30 10:00:00.000'].map((ts) => ({ user_id: 'u1', ts, channel: 'email' })),
    );
    await shop.store(
      'conversions',
      ['1900-01-03 10:00:00.000', '2299-12-31 10:00:00.000'].map((ts, order) => ({
        order_id: `far-${order}`,
        user_id: 'u1',
        ts,
        revenue: '50',
      })),
    );
    await shop.measure();

    const { status, text, body } = await shop.status();
    expect(status).toBe(200);
    expect(text.length).toBeLessThan(16_000);
    expect(body['coverage']).toMatchObject({ earliest: '2026-09-01', latest: '2026-09-25', missing_days: [] });
    expect(body['records']).toMatchObject({ touchpoints: 62, conversions: 32, spend_rows: 4 });
    expect(Number(body['health_score'])).toBeGreaterThan(0);
    const { rows } = await asOwner(house, (owner) =>
      owner.query<{ day: string }>(
        `select day::text from attribution.source_days where data_source_id = $1 order by day`,
        [shop.key.dataSourceId],
      ),
    );
    expect(rows.map(({ day }) => day)).toEqual(
      Array.from({ length: 25 }, (_, number) => `2026-09-${String(1 + number).padStart(2, '0')}`),
    );

    const run = await shop.run({ include: ['diagnostics'] });
    expect(run).toMatchObject({ status: 200, body: { status: 'completed', revenue: 1500, conversions: 30 } });
    expect(String(run.body['diagnostics']!['run_digest'])).toBe(String(before.body['diagnostics']!['run_digest']));
    const email = (run.body['channel_impact'] as unknown as Json[]).find(({ channel }) => String(channel) === 'email')!;
    expect(Number(email['spend'])).toBe(5);
    expect((await shop.send('date,channel,spend\n2026-09-04,email,5\n')).status).toBe(202);
  });

  test('an order beyond what cents can count fails its analysis, and no other', async () => {
    const shop = await OddShop.open(house);
    const before = await shop.run();
    expect(before.body).toMatchObject({ status: 'completed' });
    await shop.order('absurd', ABSURD);
    await shop.measure();
    for (const model of ['causal', 'markov', 'shapley', 'dominance', 'rwa', 'prav']) {
      const failed = await shop.run({ model });
      expect(failed).toMatchObject({
        status: 200,
        body: {
          status: 'failed',
          failure: { code: 'amount_out_of_range', message: expect.stringMatching(SENTENCES) },
          channel_impact: [],
          platform_fee_cents: null,
        },
      });
    }
    const list = await shop.caller.get('/attribution');
    expect(list.status).toBe(200);
    expect((list.body['data'] as unknown as Json[]).map(({ status }) => String(status))).toEqual([
      ...Array.from({ length: 6 }, () => 'failed'),
      'completed',
    ]);
    const { data, errors } = await shop.caller.graphql(
      '{ attributions(first: 1) { edges { node { status failure { code message } deltaRCents platformFeeCents } } } }',
    );
    expect(errors).toBeUndefined();
    expect(data!['attributions']!['edges']).toMatchObject([
      {
        node: { status: 'FAILED', failure: { code: 'AMOUNT_OUT_OF_RANGE' }, deltaRCents: null, platformFeeCents: null },
      },
    ]);

    const stream = await (
      await shop.caller.open(
        'POST',
        '/attribution?stream=true',
        JSON.stringify({ data_source_id: shop.id, date_range: RANGE }),
        { 'content-type': 'application/json' },
      )
    ).text();
    expect(stream).toMatch(/event: error\ndata: \{"error":\{"type":"validation_error".*"code":"amount_out_of_range"/);
    // Another range has nothing to do with it.
    expect((await shop.run({ date_range: ['2026-09-01', '2026-09-10'] })).body).toMatchObject({ status: 'completed' });
    // Corrected, the row is a row like any other.
    expect((await shop.send('order_id,user_id,timestamp,revenue\nabsurd,u1,2026-09-12T10:00:00Z,99.99\n')).status).toBe(
      202,
    );
    expect((await shop.run()).body).toMatchObject({ status: 'completed', revenue: 1599.99 });
  });

  test(
    'an analysis that was stored with such figures shows as failed, in its list and by itself; those beside it ' +
      'are as they were',
    async () => {
      const shop = await OddShop.open(house);
      const ids: string[] = [];
      for (let number = 0; number < 4; number += 1) ids.push(String((await shop.run()).body['id']));
      const spoil = (id: string, change: string) =>
        asOwner(house, (owner) =>
          owner.query(`update attribution.attributions set result = ${change} where id = $1`, [
            uuidFromPublicId('attr', id),
          ]),
        );
      await spoil(
        ids[0]!,
        `result || '{"revenueCausalCents": 10000000000154999, "revenueLastclickCents": 10000000000154999, ` +
          `"revenueCents": 10000000000154999}'`,
      );
      await spoil(ids[1]!, `'{}'`);
      await asOwner(house, (owner) =>
        owner.query(`update attribution.attributions set trust = trust || '{"claims": null}' where id = $1`, [
          uuidFromPublicId('attr', ids[2]!),
        ]),
      );
      const list = await shop.caller.get('/attribution');
      expect(list.status).toBe(200);
      expect(list.body['data']).toMatchObject([
        { id: ids[3], status: 'completed' },
        {
          id: ids[2],
          status: 'failed',
          failure: { code: 'internal', message: expect.stringMatching(SENTENCES) },
          channel_impact: [],
        },
        {
          id: ids[1],
          status: 'failed',
          failure: { code: 'internal', message: expect.stringMatching(SENTENCES) },
          channel_impact: [],
          delta_r_cents: null,
          signature: null,
        },
        {
          id: ids[0],
          status: 'failed',
          failure: { code: 'amount_out_of_range', message: expect.stringMatching(SENTENCES) },
          channel_impact: [],
          delta_r_cents: null,
          signature: null,
        },
      ]);
      expect(await shop.caller.get(`/attribution/${ids[0]}?include=time_series,campaigns,comparison`)).toMatchObject({
        status: 200,
        body: { status: 'failed', failure: { code: 'amount_out_of_range' } },
      });
      expect(await shop.caller.get(`/attribution/${ids[0]}/export?level=channels&format=csv`)).toMatchObject({
        status: 409,
        body: { error: { code: 'not_ready' } },
      });
      expect((await shop.caller.get('/agents/me')).status).toBe(200);
    },
  );
});

describe('values that no upload may bring, stored already', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse('one process', { clock });
  });
  afterAll(() => house?.stop());

  test('a source with a row every decade lists the gaps of the last 731 days alone', async () => {
    const shop = await OddShop.open(house);
    await shop.store(
      'spend',
      ['2000-01-01', '2010-06-01', '2020-06-01'].map((date) => ({ date, channel: 'email', spend: '5' })),
    );
    await shop.measure();
    const { text, body } = await shop.status();
    expect(body['coverage']).toMatchObject({ earliest: '2000-01-01', latest: '2026-09-25' });
    const missing = body['coverage']!['missing_days'] as unknown as string[];
    expect(missing).toHaveLength(731 - 25);
    expect([missing[0], missing.at(-1)]).toEqual(['2024-09-25', '2026-08-31']);
    expect(text.length).toBeLessThan(32_000);
  });

  test.each<readonly [what: string, put: (shop: OddShop) => Promise<unknown>]>([
    [
      'orders, each within the bounds of a row',
      (shop) =>
        shop.store(
          'conversions',
          Array.from({ length: 91 }, (_, order) => ({
            order_id: `large-${order}`,
            user_id: `u${order % 30}`,
            ts: `${dayOf(order)} 11:00:00.000`,
            revenue: '1000000000000',
          })),
        ),
    ],
    [
      'refunds that cancel as many sales',
      (shop) =>
        shop.store(
          'conversions',
          Array.from({ length: 100 }, (_, order) => ({
            order_id: `large-${order}`,
            user_id: `u${order % 30}`,
            ts: `${dayOf(order)} 11:00:00.000`,
            revenue: `${order % 2 === 0 ? '' : '-'}999999999999`,
          })),
        ),
    ],
    [
      'spend',
      (shop) =>
        shop.store(
          'spend',
          Array.from({ length: 100 }, (_, row) => ({
            date: dayOf(row),
            channel: 'email',
            campaign: `c${row}`,
            spend: '999999999999',
          })),
        ),
    ],
    [
      'the own cost of touches',
      (shop) =>
        shop.store(
          'touchpoints',
          Array.from({ length: 100 }, (_, row) => ({
            user_id: `u${row}`,
            ts: `${dayOf(row)} 09:00:00.000`,
            channel: 'display',
            cost: '999999999999',
          })),
        ),
    ],
  ])('%s that add up beyond it fail the analysis too', async (_, put) => {
    const shop = await OddShop.open(house);
    await put(shop);
    await shop.measure();
    expect((await shop.run()).body).toMatchObject({
      status: 'failed',
      failure: { code: 'amount_out_of_range', message: expect.stringMatching(SENTENCES) },
    });
    expect((await shop.caller.get('/attribution')).status).toBe(200);
  });

  test('more journeys than can be counted, as aggregated paths, fail the analysis; as many as fit do not', async () => {
    const caller = await Caller.register(house.root);
    const { body } = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: 'path,conversions,revenue,nulls\nemail > display,3,100,7\ndirect > email,1,20,9\n' },
    });
    const id = String(body['data_source_id']);
    const {
      rows: [row],
    } = await asOwner(house, (owner) =>
      owner.query<{ account_id: string }>('select account_id from attribution.data_sources where id = $1', [
        uuidFromPublicId('ds', id),
      ]),
    );
    const shop = new OddShop(house, caller, id, row!.account_id);
    await shop.store('paths', [
      { path: ['email'], conversions: '1000000000000', revenue: '1000', nulls: '1000000000000', line: 1 },
    ]);
    await shop.measure();
    expect((await shop.run()).body).toMatchObject({ status: 'completed', conversions: 1_000_000_000_004 });
    await shop.store(
      'paths',
      Array.from({ length: 60 }, (_, line) => ({
        path: ['email', 'direct', `c${line}`],
        conversions: '99999999999999',
        revenue: '1',
        nulls: '99999999999999',
        line: line + 2,
      })),
    );
    await shop.measure();
    expect((await shop.run()).body).toMatchObject({
      status: 'failed',
      failure: { code: 'amount_out_of_range', message: expect.stringMatching(SENTENCES) },
    });
  });

  test('a refresh that meets such an order leaves the last revision as it was', async () => {
    const shop = await OddShop.open(house);
    const { body } = await shop.run({ auto_refresh: true });
    // More than whole numbers of 64 bits hold, counted in the parts of a cent that are stored.
    await shop.store(
      'conversions',
      Array.from({ length: 50 }, (_, order) => ({
        order_id: `large-${order}`,
        user_id: `u${order}`,
        ts: '2026-09-12 10:00:00.000',
        revenue: ABSURD,
      })),
    );
    await shop.measure();
    const refreshed = async (): Promise<readonly string[]> =>
      house
        .log()
        .split('\n')
        .filter((line) => line.includes('late rows have changed') && line.includes(String(body['id'])));
    for (let tries = 0; tries < 800 && (await refreshed()).length === 0; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await refreshed()).not.toHaveLength(0);
    for (let tries = 0; tries < 800; tries += 1) {
      const { body: now } = await shop.caller.get(`/attribution/${String(body['id'])}`);
      if (String(now['status']) === 'completed') break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect((await shop.caller.get(`/attribution/${String(body['id'])}`)).body).toMatchObject({
      status: 'completed',
      revision: 1,
      revenue: 1500,
      signature: body['signature'],
    });
  });

  test('totals over analyses stop at the largest number that is exact', async () => {
    const shop = await OddShop.open(house);
    await shop.run();
    const most = Number.MAX_SAFE_INTEGER;
    await asOwner(house, (owner) =>
      owner.query(
        `insert into billing.charges (analysis_id, account_id, agent_id, plan, currency, delta_r_cents, fee_cents)
         select gen_random_uuid(), account_id, agent_id, 'pro', 'USD', $2, 0
         from attribution.attributions, generate_series(1, 1100) where data_source_id = $1`,
        [shop.key.dataSourceId, most],
      ),
    );
    const profile = await shop.caller.get('/agents/me');
    expect(profile.status).toBe(200);
    expect(Number(profile.body['total_delta_r_cents'])).toBe(most);
  });
});
