import fc from 'fast-check';
import type { BreakdownResult, SegmentCredits } from '../../../../../compute/models/breakdown/breakdown-result.ts';
import { toCents } from '../../../../../compute/numerics/largest-remainder.ts';
import {
  campaignsOf,
  timeSeriesOf,
  type IncrementalSegments,
} from '../../../../../subgraphs/attribution/analysis/attributions/breakdown.ts';
import type { ChannelFigures } from '../../../../../subgraphs/attribution/analysis/attributions/figures.ts';
import {
  presentCampaigns,
  presentTimeSeries,
} from '../../../../../subgraphs/attribution/analysis/attributions/present-breakdown.ts';

const CHANNELS = ['email', 'search', 'video'];
const NAMES = ['spring', 'summer'];
const CALENDAR = ['2026-01-05', '2026-01-12', '2026-01-19', '2026-01-26'].map((start) => ({ start, partial: false }));

function figuresOf(channel: string, attributedRevenueCents: number, lastclickRevenueCents: number): ChannelFigures {
  return {
    channel,
    isBaseline: false,
    spend: 0,
    attributedRevenueCents,
    lastclickRevenueCents,
    conversions: 0,
    share: 0,
    confidence: null,
    confidenceInterval: null,
  };
}

const amounts = (length: number) =>
  fc
    .array(fc.oneof(fc.constant(0), fc.double({ min: -50, max: 1e6, noNaN: true })), {
      minLength: length,
      maxLength: length,
    })
    .map((list) => Float64Array.from(list));
const counts = (length: number) =>
  fc.array(fc.nat(1000), { minLength: length, maxLength: length }).map((list) => Float64Array.from(list));
const credits = (count: number) =>
  fc.record<SegmentCredits>({
    count: fc.constant(count),
    linear: amounts(3 * count),
    lastClick: amounts(3 * count),
    touches: counts(3 * count),
  });
const rows = fc.record<BreakdownResult>({
  ok: fc.constant(true),
  model: fc.constant('breakdown'),
  channels: fc.constant(CHANNELS),
  periods: credits(4),
  campaigns: credits(3),
  revenue: amounts(4),
  unattributedRevenue: amounts(4),
});
const segments = (count: number) =>
  fc.record({ count: fc.constant(count), touches: counts(3 * count), split: counts(3 * count) });
/** PRAV may know its channels in another order, and not know one. */
const effects = fc.option(
  fc.record<IncrementalSegments>({
    channels: fc.constant(['video', 'email', 'direct']),
    periods: segments(4),
    campaigns: fc.option(segments(3)),
  }),
);
const sum = (list: readonly number[]): number => list.reduce((total, each) => total + each, 0);

describe('a breakdown', () => {
  test('sums to every published figure, cent by cent, whatever the weights, refunds included', () => {
    const cents = fc.integer({ min: -1e6, max: 1e11 });
    fc.assert(
      fc.property(
        rows,
        effects,
        fc.array(cents, { minLength: 3, maxLength: 3 }),
        cents,
        (given, incremental, credited, baselineRevenueCents) => {
          const lastClickOf = (channel: number) =>
            toCents(sum([0, 1, 2].map((slot) => given.campaigns.lastClick[slot * 3 + channel]!)));
          const revenueCents = toCents(sum([...given.revenue]));
          const channels = CHANNELS.map((channel, index) => figuresOf(channel, credited[index]!, lastClickOf(index)));
          const series = timeSeriesOf({ channels, revenueCents, baselineRevenueCents }, CALENDAR, given, incremental);
          expect(sum(series.revenueCents)).toBe(revenueCents);
          expect(sum(series.baselineRevenueCents)).toBe(baselineRevenueCents);
          for (const [index, { attributedRevenueCents }] of series.channels.entries()) {
            expect(attributedRevenueCents.every(Number.isSafeInteger)).toBe(true);
            expect(sum(attributedRevenueCents)).toBe(credited[index]);
          }
          const campaigns = campaignsOf(
            { channels, revenueCents, baselineRevenueCents },
            NAMES,
            given,
            [{ channel: 'email', campaign: 'winter', spend: 3 }],
            incremental,
          );
          for (const { channel, attributedRevenueCents, lastclickRevenueCents } of channels) {
            const own = campaigns.filter((each) => each.channel === channel);
            expect(sum(own.map((each) => each.attributedRevenueCents))).toBe(attributedRevenueCents);
            expect(sum(own.map((each) => each.lastclickRevenueCents))).toBe(lastclickRevenueCents);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  const matrix = (...values: readonly (readonly number[])[]): Float64Array => Float64Array.from(values.flat());
  const none = (count: number): SegmentCredits => ({
    count,
    linear: new Float64Array(3 * count),
    lastClick: new Float64Array(3 * count),
    touches: new Float64Array(3 * count),
  });
  const base: BreakdownResult = {
    ok: true,
    model: 'breakdown',
    channels: CHANNELS,
    periods: {
      ...none(4),
      linear: matrix([1, 0, 0], [3, 0, 0], [0, 0, 0], [0, 0, 0]),
      touches: matrix([2, 0, 0], [2, 1, 0], [0, 1, 0], [0, 0, 0]),
    },
    campaigns: {
      ...none(3),
      linear: matrix([1, 0, 0], [0, 0, 0], [3, 0, 0]),
      touches: matrix([1, 2, 0], [1, 0, 0], [2, 0, 0]),
      lastClick: matrix([4, 0, 0], [0, 0, 0], [0, 0, 0]),
    },
    revenue: Float64Array.from([10, 30, 0, 0]),
    unattributedRevenue: Float64Array.from([0, 0, 5, 0]),
  };
  const credit = {
    channels: [figuresOf('email', 400, 400), figuresOf('search', 100, 0), figuresOf('video', 300, 0)],
    revenueCents: 4000,
    baselineRevenueCents: 100,
  };

  test('follows the linear credit, else the touches, else the revenue', () => {
    const { channels, baselineRevenueCents } = timeSeriesOf(credit, CALENDAR, base, null);
    expect(channels.map(({ attributedRevenueCents }) => attributedRevenueCents)).toEqual([
      [100, 300, 0, 0],
      [0, 50, 50, 0],
      [75, 225, 0, 0],
    ]);
    expect(baselineRevenueCents).toEqual([0, 0, 100, 0]);
  });

  test(
    'follows the placebo-adjusted contributions of the touches where the credit is made of them; the baseline ' +
      'then follows the revenue',
    () => {
      const split = matrix([0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]);
      const { channels, baselineRevenueCents } = timeSeriesOf(credit, CALENDAR, base, {
        channels: ['video', 'email', 'direct'],
        periods: { count: 4, touches: split, split },
        campaigns: null,
      });
      expect(channels[0]!.attributedRevenueCents).toEqual([0, 0, 0, 400]);
      expect(channels[1]!.attributedRevenueCents).toEqual([0, 50, 50, 0]);
      expect(baselineRevenueCents).toEqual([25, 75, 0, 0]);
    },
  );

  test('keeps what names no campaign apart, gives unknown credit to it, and lists campaigns with spend alone', () => {
    const spend = [
      { channel: 'email', campaign: 'summer', spend: 7 },
      { channel: 'email', campaign: '', spend: 2 },
      { channel: 'search', campaign: 'winter', spend: 9 },
    ];
    expect(
      campaignsOf(credit, NAMES, base, spend, null).map(
        ({ channel, campaign, spend: spent, touches, attributedRevenueCents, lastclickRevenueCents }) => [
          channel,
          campaign,
          spent,
          touches,
          attributedRevenueCents,
          lastclickRevenueCents,
        ],
      ),
    ).toEqual([
      ['email', 'summer', 7, 2, 300, 0],
      ['video', null, 0, 0, 300, 0],
      ['email', null, 2, 1, 100, 400],
      ['search', null, 0, 2, 100, 0],
      ['email', 'spring', 0, 1, 0, 0],
      ['search', 'winter', 9, 0, 0, 0],
    ]);
  });

  test('shows the channels asked for alone, whatever their names, with ratios that match their parts', () => {
    const hostile = { ...credit, channels: [figuresOf('__proto__', 400, 400), figuresOf('search', 100, 0)] };
    const points = presentTimeSeries(
      timeSeriesOf(hostile, CALENDAR, { ...base, channels: ['__proto__', 'search', 'video'] }, null),
      (channel) => channel !== 'search',
    );
    expect(points[1]).toMatchObject({ periodStart: '2026-01-12', partial: false, revenue: 30, baselineRevenue: 0 });
    expect(JSON.stringify(points[1]!.channels)).toBe('{"__proto__":3}');
    const [shown, ...others] = presentCampaigns(
      [
        {
          channel: 'email',
          campaign: 'x',
          spend: 8,
          touches: 1,
          attributedRevenueCents: 2000,
          lastclickRevenueCents: 500,
        },
        {
          channel: 'search',
          campaign: null,
          spend: 0,
          touches: 1,
          attributedRevenueCents: 1,
          lastclickRevenueCents: 0,
        },
      ],
      [figuresOf('email', 2000, 500)],
      (channel) => channel === 'email',
    );
    expect(shown).toEqual({
      channel: 'email',
      campaign: 'x',
      spend: 8,
      touches: 1,
      attributedRevenue: 20,
      lastclickRevenue: 5,
      deltaR: 15,
      roi: 1.5,
      roas: 2.5,
    });
    expect(others).toEqual([]);
  });

  test('what cannot be measured of a channel has no return in its campaigns either', () => {
    const television: ChannelFigures = {
      ...figuresOf('television', 0, 0),
      identification: { status: 'none', reasons: [{ code: 'untracked_spend', message: 'Why.' }] },
    };
    const campaign = {
      channel: 'television',
      campaign: 'spring',
      spend: 8,
      touches: 0,
      attributedRevenueCents: 0,
      lastclickRevenueCents: 0,
    };
    expect(presentCampaigns([campaign], [television], () => true)[0]).toMatchObject({ roi: null, roas: null });
    expect(presentCampaigns([campaign], [], () => true)[0]).toMatchObject({ roi: -1, roas: 0 });
  });
});
