import * as fc from 'fast-check';
import { estimationEnd } from '../../../compute/models/prav/exposure-sums.ts';
import { momentWeight, WINDOW_ENDS } from '../../../compute/models/prav/hazard-design.ts';
import { sumHazards } from '../../../compute/models/prav/hazard-sums.ts';
import { pravShare } from '../../../compute/models/prav/prav-credit.ts';
import type { PravResult } from '../../../compute/models/prav/prav-result.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import type { RunOptions } from '../../../compute/run-options.ts';
import { relativeDifference, total } from '../closeness.ts';
import { eventRows } from '../event-rows.ts';
import { eventTable, isUnpaid, wholeRange } from '../reference-data.ts';
import type { EventRow } from '../reference-data.ts';
import { figures } from '../run-in-thread.ts';
import { simulateShoppers } from '../simulated-shoppers.ts';

const prav = (rows: readonly EventRow[], changes: Partial<RunOptions> = {}): PravResult => {
  const events = eventTable(rows);
  return figures('prav', { events, options: wholeRange(events, changes) });
};
const at = (result: PravResult, channel: string): number => result.channels.indexOf(channel);

/** The windows of one row as (column, from, to). */
function windowsOf(
  { timeS, channel }: EventRow,
  columnOf: (channel: string) => number,
  horizonS: number,
): { column: number; from: number; to: number }[] {
  return WINDOW_ENDS.map((end, w) => ({
    column: columnOf(channel) + w,
    from: timeS + (WINDOW_ENDS[w - 1] ?? 0) * horizonS,
    to: timeS + end * horizonS,
  }));
}

describe('PRAV on large samples', () => {
  const { rows, caused } = simulateShoppers(9_000, 7);
  const result = prav(rows);
  const orderValue = result.averageOrderValue;

  test('tells overlapping touches apart: intervals hold what each channel set off, and the sum is near', () => {
    expect(result.estimator).toBe('joint');
    for (const channel of ['display', 'video', 'search', 'brand']) {
      const truth = caused[channel]! * orderValue;
      expect(result.intervalLow[at(result, channel)]).toBeLessThanOrEqual(truth);
      expect(result.intervalHigh[at(result, channel)]).toBeGreaterThanOrEqual(truth);
    }
    const sum = total(Object.values(caused)) * orderValue;
    expect(Math.abs(result.total - sum) / sum).toBeLessThan(0.25);
    expect(result.intervalLow[at(result, 'display')]).toBeGreaterThan(0);
    expect(result.claimed).toBe(1);
    expect(result.warnings).toEqual([]);
  });

  test('the shares alone are those of the whole answer, of samples of any size', () => {
    const events = eventTable(rows);
    expect(
      relativeDifference(
        pravShare(events, wholeRange(events), () => undefined)!,
        result.share,
        1e-9,
      ),
    ).toBeLessThan(1e-7);
    const few = simulateShoppers(3_000, 7).rows;
    expect(
      relativeDifference(
        pravShare(eventTable(few), wholeRange(eventTable(few)), () => undefined)!,
        prav(few).share,
        1e-9,
      ),
    ).toBeLessThan(1e-9);
    expect(
      pravShare(eventTable(rows.filter(({ conversion }) => !conversion)), wholeRange(events), () => undefined),
    ).toBeNull();
  });

  test('visits that a channel itself brings are found, and are no sign of selection', () => {
    expect(result.halo[at(result, 'video')]).toBeGreaterThan(0.2);
    expect(result.halo[at(result, 'video')]).toBeLessThan(0.4);
    for (const channel of ['display', 'search', 'brand', 'direct', 'organic'])
      expect(result.halo[at(result, channel)]).toBe(0);
    expect(result.pull[at(result, 'video')]).toBeLessThan(0.05);
  });

  test('where no channel works little is claimed (few users leave noise), and none is called significant', () => {
    for (const seed of [2, 5, 8]) {
      const nothing = prav(simulateShoppers(9_000, seed, false).rows);
      expect(nothing.estimator).toBe('joint');
      expect(nothing.total / nothing.rangeRevenue).toBeLessThan(0.03);
      expect(Math.max(...nothing.intervalLow)).toBe(0);
    }
  });

  test('what is claimed in part is so in every figure, and says so', () => {
    const doubtful = prav(simulateShoppers(9_000, 1, false).rows);
    expect(doubtful.claimed).toBeGreaterThan(0);
    expect(doubtful.claimed).toBeLessThan(1);
    const whole = total(doubtful.value) / doubtful.claimed;
    expect(relativeDifference([whole], [total(doubtful.signedRevenue)])).toBeLessThan(1e-9);
    expect(
      relativeDifference([total(doubtful.conversions) * doubtful.averageOrderValue], [doubtful.total]),
    ).toBeLessThan(1e-9);
    // Replicates lie on both sides of what is published.
    expect(relativeDifference([total(doubtful.replicates) / doubtful.groups], [doubtful.total])).toBeLessThan(0.05);
    doubtful.value.forEach((value, c) =>
      expect([doubtful.intervalLow[c]! <= value, value <= doubtful.intervalHigh[c]!]).toEqual([true, true]),
    );
    expect(doubtful.warnings.join()).toContain(`${Math.round(doubtful.claimed * 100)} % of it is claimed`);
  });

  test('a small sample keeps to the plain estimate', () => {
    const few = prav(simulateShoppers(3_000, 7).rows);
    expect(few.estimator).toBe('plain');
    expect(total(few.halo)).toBe(0);
    // The usual estimate for its size: nothing to warn of.
    expect(few.warnings).toEqual([]);
  });

  test('where unpaid visits draw no further visits there is no κ, and the plain estimate says so', () => {
    // Of those who come again, many are not recorded.
    const visits = new Map<string, number>();
    const isRecorded = ({ user }: EventRow): boolean => {
      const place = visits.get(user) ?? 0;
      visits.set(user, place + 1);
      return place % 2 === 0;
    };
    const fewer = prav(rows.filter((row) => row.conversion || !isUnpaid(row.channel) || isRecorded(row)));
    expect(fewer.estimator).toBe('plain');
    expect(fewer.warnings.join()).toMatch(/draw no further visits/);
  });

  test('so does one with more than 100 channels, whose sums would not fit', () => {
    const known = new Set(rows.flatMap(({ channel }) => (channel === '' ? [] : [channel]))).size;
    const withMore = (more: number): EventRow[] => [
      ...rows,
      ...Array.from({ length: more }, (_, n) => ({
        ...rows.find(({ conversion }) => !conversion)!,
        user: `wide ${n}`,
        channel: `wide_${n}`,
      })),
    ];
    const [most, tooMany] = [prav(withMore(100 - known)), prav(withMore(101 - known))];
    expect([most.channels.length, most.estimator]).toEqual([100, 'joint']);
    expect([tooMany.channels.length, tooMany.estimator]).toEqual([101, 'plain']);
    expect([most.warnings, tooMany.warnings]).toEqual([[], [expect.stringMatching(/too many channels/)]]);
  });

  test('twice the users: the same lift and pull, smaller errors', () => {
    const twice = prav([...rows, ...rows.map((row) => ({ ...row, user: `again ${row.user}` }))]);
    // What is beyond chance may grow with the sample: what is carried on beyond the horizon, and what moves κ.
    const within = ({ adStock, channels }: PravResult, perTouch: Float64Array): Float64Array =>
      perTouch.map((whole, c) => (isUnpaid(channels[c]!) ? whole : whole / adStock!.beyond));
    for (const name of ['lift', 'pull'] as const)
      expect(relativeDifference(within(twice, twice[name]), within(result, result[name]), 1e-9)).toBeLessThan(1e-6);
    const ratio = total(twice.standardError) / total(result.standardError);
    // Revenue doubles, and its error grows by √2 only.
    expect(ratio).toBeGreaterThan(1.2);
    expect(ratio).toBeLessThan(1.65);
  });

  test('the order of the users and of the channels, and a channel without touches, make no difference', () => {
    const events = eventTable(rows);
    const users = [...Map.groupBy(rows, (row) => row.user).values()].toReversed();
    expect(relativeDifference(prav(users.flat()).intervalHigh, result.intervalHigh)).toBeLessThan(1e-6);
    const order = [...events.channels.keys()].toReversed();
    const channels = [...order.map((c) => events.channels[c]!), 'never seen'];
    const renumbered = {
      ...events,
      channels,
      channel: events.channel.map((c) => (c < order.length ? order.indexOf(c) : c)),
    };
    const again = figures('prav', { events: renumbered, options: wholeRange(renumbered) });
    for (const name of ['value', 'effect', 'intervalHigh', 'halo'] as const) {
      expect(
        relativeDifference(
          again[name].slice(0, -1),
          order.map((c) => result[name][c]!),
        ),
      ).toBeLessThan(1e-6);
      expect(again[name].at(-1)).toBe(0);
    }
  });

  test('two channels that always occur together share their effect; refunds and free orders give numbers', () => {
    const twins = prav(
      rows.flatMap((row) =>
        row.channel === 'search' && !row.conversion ? [row, { ...row, channel: 'search twin' }] : [row],
      ),
    );
    expect(twins.lift[at(twins, 'search')]).toBeCloseTo(twins.lift[at(twins, 'search twin')]!, 4);
    for (const value of [0, -10]) {
      const odd = prav(rows.map((row) => ({ ...row, value: row.conversion ? value : 0 })));
      expect(odd.total).toBe(0);
      expect([...odd.intervalLow, ...odd.intervalHigh].every(Number.isFinite)).toBe(true);
    }
  });

  test('each channel is split over its segments without rest', () => {
    const events = eventTable(rows);
    const week = Uint32Array.from(events.timeS, (t) => Math.floor((t - 1_735_689_600) / (7 * DAY_S)));
    const { segments } = figures('prav', { events, options: wholeRange(events), segments: [{ of: week, count: 10 }] });
    events.channels.forEach((_, c) =>
      expect(total(segments[0]!.split.filter((__, i) => i % events.channels.length === c))).toBeCloseTo(1, 12),
    );
  });
});

describe('the sums of the hazards', () => {
  test('equal the integrals worked out interval by interval', () => {
    fc.assert(
      fc.property(eventRows, fc.integer({ min: 0, max: 30 }), (rows, startDay) => {
        const table = eventTable(rows);
        const options = wholeRange(table, { rangeStartS: startDay * DAY_S, rangeEndS: (startDay + 20) * DAY_S });
        const sums = sumHazards(table, options, 1, () => undefined);
        const { columns, columnOf } = sums.design;
        const columnAt = (channel: string): number => columnOf[table.channels.indexOf(channel)]!;
        const end = estimationEnd(options);
        const gram = new Float64Array(columns * columns);
        const orders = new Float64Array(columns);
        const visits = new Float64Array(columns);
        for (const all of Map.groupBy(rows, (row) => row.user).values()) {
          const events = all.filter((row) => row.timeS <= end);
          const first = Math.min(...all.map((row) => row.timeS));
          if (first >= end) continue;
          const windows = events
            .filter((row) => !row.conversion)
            .flatMap((row) => windowsOf(row, columnAt, options.horizonS));
          const stateAt = (t: number): Float64Array => {
            const x = new Float64Array(columns);
            x[0] = 1;
            for (const { column, from, to } of windows) if (t > from && t <= to) x[column]! += 1;
            return x;
          };
          // Of each touch one window at most holds a moment.
          const weightOf = (x: Float64Array): number => momentWeight(total(x.subarray(1)));
          const cuts = [...new Set([first, end, ...windows.flatMap(({ from, to }) => [from, to])])]
            .filter((t) => t >= first && t <= end)
            .toSorted((a, b) => a - b);
          cuts.slice(1).forEach((to, i) => {
            const x = stateAt((cuts[i]! + to) / 2);
            for (let p = 0; p < columns; p++)
              for (let q = 0; q < columns; q++)
                gram[p * columns + q]! += (weightOf(x) * x[p]! * x[q]! * (to - cuts[i]!)) / DAY_S;
          });
          for (const row of events) {
            if (row.timeS - options.gapS < first) continue;
            const into = row.conversion ? orders : isUnpaid(row.channel) ? visits : null;
            const x = stateAt(row.timeS - options.gapS);
            if (into !== null) x.forEach((part, j) => (into[j]! += weightOf(x) * part));
          }
        }
        const symmetric = sums.gram.map(
          (part, i) =>
            part +
            (Math.floor(i / columns) === i % columns
              ? 0
              : sums.gram[(i % columns) * columns + Math.floor(i / columns)]!),
        );
        expect(relativeDifference(symmetric, gram, 1e-7)).toBeLessThan(1e-6);
        expect(relativeDifference(sums.orders, orders, 1e-7)).toBeLessThan(1e-9);
        expect(relativeDifference(sums.visits, visits, 1e-7)).toBeLessThan(1e-9);
      }),
    );
  });
});
