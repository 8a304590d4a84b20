import { readFileSync } from 'node:fs';
import { roundHalfUp } from '../../schema/rounding.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
const BASELINE = ['direct', 'organic*'];
/** The fixture with `video` on the air from the 10th to the 23rd of February alone, in a campaign of its own. */
const isFlight = (timestamp: string) => timestamp >= '2025-02-10' && timestamp < '2025-02-24';
const FLIGHT = EVENTS.trimEnd()
  .split('\n')
  .filter((row) => !row.includes(',video,') || isFlight(row.split(',')[1]!))
  .map((row) => row.replace(/,video,[^,]*,/, ',video,flight,'))
  .join('\n');

interface Point {
  readonly period_start: string;
  readonly partial: boolean;
  readonly revenue: number;
  readonly baseline_revenue: number;
  readonly channels: Readonly<Record<string, number>>;
}
interface Impact {
  readonly channel: string;
  readonly spend: number;
  readonly attributed_revenue: number;
  readonly lastclick_revenue: number;
}
type Campaign = Impact & { readonly campaign: string | null; readonly touches: number; readonly delta_r: number };

const cents = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => sum + Math.round(100 * amount), 0);
const seriesOf = (body: Json) => body['time_series'] as unknown as Point[];
const campaignsOf = (body: Json) => body['campaigns'] as unknown as Campaign[];
const impactOf = (body: Json) => body['channel_impact'] as unknown as Impact[];

describe.each(LAYOUTS)('breakdowns, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let source: string;
  const connect = async (content: string): Promise<string> =>
    String(
      (
        await caller.post('/data-sources/connect', {
          type: 'csv_upload',
          credentials: { content },
          baseline_channels: BASELINE,
        })
      ).body['data_source_id'],
    );
  const run = async (changes: object): Promise<Json> =>
    (
      await caller.post('/attribution', {
        data_source_id: source,
        date_range: DATE_RANGE,
        include: ['time_series', 'campaigns'],
        ...changes,
      })
    ).body;

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    caller = await Caller.register(house.root);
    source = await connect(FLIGHT);
  });
  afterAll(() => house?.stop());

  test.each([
    ['causal', 'daily', 90],
    ['causal', 'weekly', 13],
    ['prav', 'monthly', 4],
    ['markov', 'weekly', 13],
    ['rwa', 'monthly', 4],
  ] as const)(
    '%s, %s: periods and campaigns sum to the channels, and periods to the whole, in cents',
    async (model, granularity, periods) => {
      const body = await run({ model, granularity });
      expect(body).toMatchObject({ status: 'completed', granularity });
      const [series, campaigns] = [seriesOf(body), campaignsOf(body)];
      expect(series).toHaveLength(periods);
      for (const { channel, attributed_revenue: attributed, lastclick_revenue: lastClick, spend } of impactOf(body)) {
        expect(cents(series.map((point) => point.channels[channel]!))).toBe(cents([attributed]));
        const own = campaigns.filter((each) => each.channel === channel);
        expect(cents(own.map((each) => each.attributed_revenue))).toBe(cents([attributed]));
        expect(cents(own.map((each) => each.lastclick_revenue))).toBe(cents([lastClick]));
        expect(own.reduce((sum, each) => sum + each.spend, 0)).toBeCloseTo(spend, 1);
      }
      expect(cents(series.map((point) => point.revenue))).toBe(cents([Number(body['revenue'])]));
      expect(cents(series.map((point) => point.baseline_revenue))).toBe(cents([Number(body['baseline_revenue'])]));
      expect(campaigns.reduce((sum, each) => sum + each.touches, 0)).toBe(
        FLIGHT.split('\n')
          .slice(1)
          .filter((row) => row.split(',')[5] === '0').length,
      );
    },
  );

  test('a flight of two weeks earns its credit there: by touches in PRAV, by the orders after in Shapley', async () => {
    const earning = (body: Json) =>
      seriesOf(body)
        .filter((point) => point.channels['video']! !== 0)
        .map((point) => point.period_start);
    const prav = await run({ model: 'prav', granularity: 'weekly' });
    expect(impactOf(prav).find(({ channel }) => channel === 'video')!.attributed_revenue).toBeGreaterThan(0);
    expect(earning(prav)).toEqual(['2025-02-10', '2025-02-17'].filter((week) => earning(prav).includes(week)));
    expect(earning(prav).length).toBeGreaterThan(0);
    const shapley = await run({ model: 'shapley', granularity: 'weekly', lookback_window_days: 7 });
    expect(earning(shapley).every((week) => week >= '2025-02-10' && week <= '2025-03-03')).toBe(true);
    expect(
      campaignsOf(prav)
        .filter(({ channel }) => channel === 'video')
        .map(({ campaign }) => campaign),
    ).toEqual(['flight']);
  });

  test('weeks and months that the range cuts are partial', async () => {
    const weeks = seriesOf(
      await run({ model: 'shapley', granularity: 'weekly', date_range: ['2025-01-08', '2025-01-26'] }),
    );
    expect(weeks.map((point) => [point.period_start, point.partial])).toEqual([
      ['2025-01-06', true],
      ['2025-01-13', false],
      ['2025-01-20', false],
    ]);
    const months = seriesOf(
      await run({ model: 'shapley', granularity: 'monthly', date_range: ['2025-01-06', '2025-02-28'] }),
    );
    expect(months.map((point) => [point.period_start, point.partial])).toEqual([
      ['2025-01-01', true],
      ['2025-02-01', false],
    ]);
  });

  test('restricted to channels, it shows these with the figures of the whole', async () => {
    const [whole, restricted] = [
      await run({ granularity: 'monthly' }),
      await run({ granularity: 'monthly', channels: ['video', 'email'] }),
    ];
    for (const [index, point] of seriesOf(restricted).entries()) {
      const { video, email } = seriesOf(whole)[index]!.channels;
      expect(point).toEqual({ ...seriesOf(whole)[index], channels: { email, video } });
    }
    expect(campaignsOf(restricted)).toEqual(
      campaignsOf(whole).filter(({ channel }) => ['video', 'email'].includes(channel)),
    );
  });

  test('campaigns come where they are named; over GraphQL both are typed', async () => {
    const whole = (
      await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, model: 'shapley' })
    ).body;
    expect(Object.keys(whole)).toEqual(expect.arrayContaining(['time_series', 'comparison']));
    expect(whole).not.toHaveProperty('campaigns');
    const path = `/attribution/${String(whole['id'])}`;
    expect((await caller.get(path)).body).not.toHaveProperty('campaigns');
    const named = (await caller.get(`${path}?include=campaigns`)).body;
    expect(named).not.toHaveProperty('time_series');
    expect((await caller.get('/attribution?include=campaigns')).status).toBe(422);
    const { data, errors } = await caller.graphql(
      'query($id: ID!) { attribution(id: $id) { timeSeries { periodStart partial revenue baselineRevenue channels } ' +
        'campaigns { channel campaign spend touches attributedRevenue deltaR roas } } }',
      { id: String(whole['id']) },
    );
    expect(errors).toBeUndefined();
    const { timeSeries, campaigns } = data!['attribution']! as unknown as {
      timeSeries: object[];
      campaigns: { attributedRevenue: number }[];
    };
    expect(timeSeries).toEqual(
      seriesOf(whole).map(
        ({ period_start: periodStart, partial, revenue, baseline_revenue: baselineRevenue, channels }) => ({
          periodStart,
          partial,
          revenue,
          baselineRevenue,
          channels,
        }),
      ),
    );
    expect(campaigns.map((each) => each.attributedRevenue)).toEqual(
      campaignsOf(named).map((each) => each.attributed_revenue),
    );
  });

  test('what models report is rounded at both doors', async () => {
    const body = await run({ include: ['diagnostics'] });
    const models = body['diagnostics']!['models']!;
    expect(tooManyDigits(models, 4)).toEqual([]);
    const money = [
      models['markov']!['expected_value'],
      models['prav']!['average_order_value'],
      models['prav']!['standard_error'],
      models['causal']!['incremental_revenue'],
    ];
    expect(money).not.toContain(undefined);
    expect(tooManyDigits(money, 2)).toEqual([]);
    const { data } = await caller.graphql(`{ attribution(id: "${String(body['id'])}") { diagnostics { models } } }`);
    expect(data!['attribution']!['diagnostics']!['models']).toEqual(models);
  });

  test('aggregated paths have neither, and the answer says why', async () => {
    const paths = await connect(
      'path,total_conversions,total_conversion_value,total_null\nsearch > email,3,180,5\nsearch,4,200,16\n',
    );
    const body = await run({ data_source_id: paths, model: 'markov' });
    expect(body).toMatchObject({ status: 'completed', time_series: null, campaigns: null });
    const { body: read } = await caller.get(`/attribution/${String(body['id'])}?include=diagnostics`);
    expect(read['diagnostics']!['warnings'] as unknown as string[]).toContainEqual(
      expect.stringContaining('aggregated paths'),
    );
  });
});

/** Numbers anywhere in a value that have more decimals than they should. */
function tooManyDigits(value: unknown, digits: number): number[] {
  if (typeof value === 'number') return roundHalfUp(value, digits) === value ? [] : [value];
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap((each) => tooManyDigits(each, digits))
    : [];
}
