import fc from 'fast-check';
import {
  proRate,
  rangeExperiments,
  type MeasuredEffect,
} from '../../../../../subgraphs/attribution/analysis/experiments/range-experiments.ts';
import { openColumnarStore, upload, type ColumnarStore } from '../../intake/touchpoints/columnar-store.ts';

const effect = { incrementalRevenue: 1_000, standardError: 100 };
const count = fc.integer({ min: 1, max: 1_000_000 });
/** Touches before the period, in period and range, behind the range … in any split. */
const exposures = fc
  .record({ periodOnly: fc.nat(1_000_000), both: count, rangeOnly: fc.nat(1_000_000) })
  .map(({ periodOnly, both, rangeOnly }) => ({ period: periodOnly + both, range: rangeOnly + both, both }));

describe('carrying an effect over to a range', () => {
  test('the same days: nothing changes', () => {
    fc.assert(
      fc.property(count, (n) =>
        expect(proRate(effect, { period: n, range: n, both: n })).toEqual({ ...effect, overlap: 1 }),
      ),
    );
  });

  test('the parts of a period add up to its effect, and their variances to its variance', () => {
    fc.assert(
      fc.property(fc.array(count, { minLength: 1, maxLength: 8 }), (parts) => {
        const period = parts.reduce((sum, part) => sum + part, 0);
        const carried = parts.map((part) => proRate(effect, { period, range: part, both: part })!);
        expect(carried.reduce((sum, part) => sum + part.incrementalRevenue, 0)).toBeCloseTo(
          effect.incrementalRevenue,
          6,
        );
        expect(carried.reduce((sum, part) => sum + part.standardError ** 2, 0)).toBeCloseTo(
          effect.standardError ** 2,
          4,
        );
      }),
    );
  });

  test('the relative error never shrinks, and grows with what is not shared', () => {
    const relative = (exposure: Parameters<typeof proRate>[1]) =>
      proRate(effect, exposure)!.standardError / proRate(effect, exposure)!.incrementalRevenue;
    fc.assert(
      fc.property(exposures, count, (exposure, more) => {
        expect(relative(exposure)).toBeGreaterThanOrEqual(0.1 - 1e-12);
        expect(relative({ ...exposure, range: exposure.range + more })).toBeGreaterThan(relative(exposure));
        expect(relative({ ...exposure, period: exposure.period + more })).toBeGreaterThan(relative(exposure));
        expect(proRate(effect, exposure)!.overlap).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('nothing in common says nothing', () => {
    expect(proRate(effect, { period: 10, range: 20, both: 0 })).toBeNull();
    expect(proRate(effect, { period: 10, range: 0, both: 0 })).toBeNull();
  });
});

describe('over stored touches', () => {
  let store: ColumnarStore;
  const source = { accountId: 'account', dataSourceId: 'shop' };
  const measured = (channel: string, start: string, end: string): MeasuredEffect => ({
    id: 'exp_1',
    channels: [channel],
    method: 'holdout',
    period: { start, end },
    ...effect,
  });
  const inRange = (...effects: MeasuredEffect[]) =>
    rangeExperiments(store.clickhouse, source, effects, { start: '2026-01-11', end: '2026-01-20' });

  beforeAll(async () => {
    store = await openColumnarStore();
    // display: 30 touches on the 5th, 10 on the 15th, at the edges of their days; email: on the 15th only.
    const touches = (channel: string, n: number, time: string) =>
      Array.from({ length: n }, (_, i) => `u${i},${time},${channel}`);
    await upload(
      store.clickhouse,
      'shop',
      [
        'user_id,timestamp,channel',
        ...touches('display', 30, '2026-01-05T23:59:59.999Z'),
        ...touches('display', 10, '2026-01-15T00:00:00Z'),
        ...touches('email', 4, '2026-01-15T12:00:00Z'),
      ].join('\n'),
    );
  });
  afterAll(() => store?.close());

  test('touches weigh, not days: a channel loud in its period and quiet in the range did less there', async () => {
    const [display] = await inRange(measured('display', '2026-01-01', '2026-01-20'));
    expect(display).toMatchObject({ basis: 'touches', inRange: { incrementalRevenue: 250, overlap: 0.25 } });
    expect(display!.inRange!.standardError).toBeCloseTo(50, 9);
  });

  test('each channel goes by its own touches; without any in the period, days stand in', async () => {
    const [display, email] = await inRange(
      measured('display', '2026-01-01', '2026-01-10'),
      measured('email', '2026-01-06', '2026-01-12'),
    );
    expect(display).toMatchObject({ basis: 'touches', inRange: null });
    expect(email).toMatchObject({
      basis: 'days',
      inRange: { incrementalRevenue: (1_000 * 10) / 7, overlap: (2 / 7) * (2 / 10) },
    });
  });

  test('no experiments, no question to the store', async () => {
    await expect(
      rangeExperiments(null as never, source, [], { start: '2026-01-01', end: '2026-01-02' }),
    ).resolves.toEqual([]);
  });
});
