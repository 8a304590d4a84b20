import * as fc from 'fast-check';
import type { PravResult } from '../../../compute/models/prav/prav-result.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import type { RunOptions } from '../../../compute/run-options.ts';
import { columnOf, relativeDifference, total } from '../closeness.ts';
import { eventRows } from '../event-rows.ts';
import { eventTable, isUnpaid, readEventRows, reference, wholeRange } from '../reference-data.ts';
import type { EventRow } from '../reference-data.ts';
import { figures, refusal } from '../run-in-thread.ts';

type ByChannel = Record<string, number>;
interface PravReference {
  prav: {
    kappa: number;
    kappa_by_baseline: ByChannel;
    y0: number;
    v0: number;
    aov: number;
    n: ByChannel;
    N: ByChannel;
    D: ByChannel;
    S: ByChannel;
    tau: ByChannel;
    incremental_conversions: ByChannel;
    incremental_revenue: ByChannel;
    signed_revenue: ByChannel;
    se_revenue: ByChannel;
    interval_low: ByChannel;
    interval_high: ByChannel;
    total: number;
    total_se: number;
    revenue: number;
    conversions: number;
  };
}

/** Φ(1.96) − Φ(−1.96): the reference program rounds its quantile to 1.96. */
const LEVEL_OF_1_96 = 0.9500042097035591;

const overlap = (from: number, to: number, low: number, high: number): number =>
  Math.max(0, Math.min(to, high) - Math.max(from, low));

/** The definition, touch by touch and user by user, without windows or groups. */
function naive(
  rows: readonly EventRow[],
  options: RunOptions,
): {
  kappa: number | null;
  orderValue: number;
  effect: (channel: string) => number;
  touches: (channel: string) => number;
} {
  const { horizonS: H, gapS: g, placeboWindowS: w } = options;
  const end = Math.min(options.observedUntilS, options.rangeEndS + H);
  const users = [
    ...Map.groupBy(
      rows.filter((row) => row.timeS <= end),
      (row) => row.user,
    ).values(),
  ];
  const seen: { channel: string; y: number; v: number }[] = [];
  let time = 0;
  let yTime = 0;
  let vTime = 0;
  for (const events of users) {
    const first = Math.min(...events.map((event) => event.timeS));
    const conversions = events.filter((event) => event.conversion);
    const touches = events.filter((event) => !event.conversion);
    const visits = touches.filter((touch) => isUnpaid(touch.channel));
    if (first < end - H) time += end - H - first;
    for (const { timeS: t } of conversions) yTime += overlap(t - H, t, first, end - H);
    for (const { timeS: t } of visits) vTime += overlap(t - g - w, t - g, first, end - H);
    for (const { timeS: s, channel } of touches.filter((touch) => touch.timeS <= end - H)) {
      seen.push({
        channel,
        y: conversions.filter(({ timeS: t }) => t > s && t <= s + H).length,
        v: visits.filter(({ timeS: t }) => t > s + g && t <= s + g + w).length,
      });
    }
  }
  const of = (channel: string): { n: number; D: number; S: number } => {
    const mine = seen.filter((exposure) => exposure.channel === channel);
    const n = mine.length;
    return {
      n,
      D: n === 0 ? 0 : total(mine.map(({ y }) => y)) / n - yTime / time,
      S: n === 0 ? 0 : total(mine.map(({ v }) => v)) / n - vTime / time,
    };
  };
  const placebos = ['direct', 'organic'].map(of);
  const pull = total(placebos.map(({ n, S }) => n * S));
  const kappa = time > 0 && pull > 1e-9 ? Math.max(0, total(placebos.map(({ n, D }) => n * D)) / pull) : null;
  const sales = users.flat().filter((event) => event.conversion);
  return {
    kappa,
    orderValue: total(sales.map((sale) => sale.value)) / sales.length,
    effect: (channel) => (isUnpaid(channel) ? 0 : of(channel).D - (kappa ?? 0) * Math.max(0, of(channel).S)),
    touches: (channel) =>
      rows.filter(
        (row) =>
          !row.conversion &&
          row.channel === channel &&
          row.timeS >= options.rangeStartS &&
          row.timeS < options.rangeEndS,
      ).length,
  };
}

describe('PRAV', () => {
  const events = eventTable(readEventRows());
  const { prav: expected } = reference<PravReference>('refs.events.json');

  test('equals the reference program', () => {
    const result = figures('prav', { events, options: wholeRange(events, { confidenceLevel: LEVEL_OF_1_96 }) });
    const scalars = [
      result.kappa,
      result.y0,
      result.v0,
      result.averageOrderValue,
      result.total,
      result.totalStandardError,
      result.rangeRevenue,
      result.rangeConversions,
    ];
    expect(
      relativeDifference(scalars, [
        expected.kappa,
        expected.y0,
        expected.v0,
        expected.aov,
        expected.total,
        expected.total_se,
        expected.revenue,
        expected.conversions,
      ]),
    ).toBeLessThan(1e-6);
    expect(
      relativeDifference(
        result.kappaByBaseline.map(({ kappa }) => kappa),
        Object.values(expected.kappa_by_baseline),
      ),
    ).toBeLessThan(1e-6);
    const columns: [keyof PravResult, ByChannel][] = [
      ['exposures', expected.n],
      ['touches', expected.N],
      ['lift', expected.D],
      ['pull', expected.S],
      ['effect', expected.tau],
      ['conversions', expected.incremental_conversions],
      ['value', expected.incremental_revenue],
      ['signedRevenue', expected.signed_revenue],
      ['standardError', expected.se_revenue],
      ['intervalLow', expected.interval_low],
      ['intervalHigh', expected.interval_high],
    ];
    for (const [name, record] of columns)
      expect(relativeDifference(result[name] as Float64Array, columnOf(events.channels, record))).toBeLessThan(1e-6);
  });

  test('equals the definition worked out touch by touch, in any range and observation window', () => {
    fc.assert(
      fc.property(
        eventRows,
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 1, max: 30 }),
        (rows, startDay, days) => {
          const table = eventTable(rows);
          const options = wholeRange(table, { rangeStartS: startDay * DAY_S, rangeEndS: (startDay + days) * DAY_S });
          const byHand = naive(rows, options);
          fc.pre(
            byHand.kappa !== null &&
              rows.some(
                (row) =>
                  row.conversion && row.timeS <= Math.min(options.observedUntilS, options.rangeEndS + options.horizonS),
              ),
          );
          const result = figures('prav', { events: table, options });
          expect(result.kappa).toBeCloseTo(byHand.kappa!, 7);
          expect(result.averageOrderValue).toBeCloseTo(byHand.orderValue, 8);
          expect(relativeDifference(result.effect, table.channels.map(byHand.effect), 1e-7)).toBeLessThan(1e-6);
          expect([...result.touches]).toEqual(table.channels.map(byHand.touches));
          const { unattributed } = figures('comparison', { events: table, options });
          expect(total(result.conversions)).toBeLessThanOrEqual(
            result.rangeConversions - unattributed.conversions + 1e-9,
          );
          expect(result.total).toBeLessThanOrEqual(result.rangeRevenue - unattributed.value + 1e-6);
          table.channels.forEach((_, c) => {
            expect(result.intervalLow[c]).toBeLessThanOrEqual(result.value[c]!);
            expect(result.intervalHigh[c]).toBeGreaterThanOrEqual(result.value[c]!);
          });
        },
      ),
    );
  });

  test('a higher confidence level widens the intervals', () => {
    const [narrow, wide] = [0.8, 0.99].map((confidenceLevel) =>
      figures('prav', { events, options: wholeRange(events, { confidenceLevel }) }),
    );
    expect(total(wide!.intervalHigh)).toBeGreaterThan(total(narrow!.intervalHigh));
  });

  test('each channel is split over its segments without rest', () => {
    const month = Uint32Array.from(events.timeS, (t) => new Date(t * 1000).getUTCMonth());
    const result = figures('prav', { events, options: wholeRange(events), segments: [{ of: month, count: 12 }] });
    const { split, touches } = result.segments[0]!;
    events.channels.forEach((_, c) => {
      expect(total(split.filter((__, i) => i % events.channels.length === c))).toBeCloseTo(1, 12);
      expect(total(touches.filter((__, i) => i % events.channels.length === c))).toBe(result.touches[c]);
    });
    expect(Math.min(...split)).toBeGreaterThanOrEqual(0);
  });

  test('refuses in plain words what it cannot know', () => {
    const options = wholeRange(events);
    expect(refusal('prav', { events: null, options })).toMatchObject({
      code: 'insufficient_data',
      message: expect.stringContaining('aggregated paths'),
    });
    expect(
      refusal('prav', { events, options: { ...options, isBaseline: new Uint8Array(events.channels.length) } }).message,
    ).toContain('no unpaid channel');
    expect(refusal('prav', { events, options: { ...options, horizonS: 400 * DAY_S } }).message).toContain('too short');
    const noSales = eventTable(readEventRows().filter((row) => !row.conversion));
    expect(refusal('prav', { events: noSales, options: wholeRange(noSales) }).message).toContain('no conversion');
    const once = eventTable(
      ['direct', 'email'].flatMap((channel, user) => [
        { user: `${user}`, timeS: 0, channel, conversion: false, value: 0 },
        { user: `${user}`, timeS: 40 * DAY_S, channel: '', conversion: true, value: 9 },
      ]),
    );
    expect(refusal('prav', { events: once, options: wholeRange(once) }).message).toContain('unpaid visits');
  });

  test('nonsensical options are refused', () => {
    for (const change of [
      { groups: 1 },
      { confidenceLevel: 1 },
      { rangeEndS: 0 },
      { horizonS: 0 },
      { isBaseline: new Uint8Array(2) },
    ]) {
      expect(refusal('prav', { events, options: wholeRange(events, change) }).code).toBe('invalid_input');
    }
  });
});
