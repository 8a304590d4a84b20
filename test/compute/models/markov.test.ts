import * as fc from 'fast-check';
import type { PathTable } from '../../../compute/journey-tables.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';
import { columnOf, relativeDifference, total } from '../closeness.ts';
import { pathRows } from '../path-rows.ts';
import { pathTable, rawPathTable, readPathRows, reference } from '../reference-data.ts';
import type { PathRow } from '../reference-data.ts';
import { figures, refusal } from '../run-in-thread.ts';

interface MarkovReference {
  states: number;
  p_conv: number;
  expected_value: number;
  removal_effect_conversion: Record<string, number>;
  removal_effect_value: Record<string, number>;
  conversions: Record<string, number>;
  value: Record<string, number>;
}

/** Gauss–Jordan without pivoting: I − Q is diagonally dominant. */
function solve(matrix: number[][], right: number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  rows.forEach((pivotRow, p) => {
    const pivot = pivotRow[p]!;
    rows.forEach((row, r) => {
      if (r === p || row[p] === 0) return;
      const factor = row[p]! / pivot;
      for (let k = p; k < row.length; k++) row[k]! -= factor * pivotRow[k]!;
    });
  });
  return rows.map((row, i) => row[rows.length]! / row[i]!);
}

/** The definition, word by word: one dense linear system per removed channel. */
function naive(
  rows: readonly PathRow[],
  order: number,
  removed: string | null,
): { probability: number; value: number } {
  const statesOf = (path: readonly string[]): string[] => {
    const grams = path.length < order ? [path] : path.slice(order - 1).map((_, i) => path.slice(i, i + order));
    return grams.map((gram) => JSON.stringify(gram)).filter((state, i, all) => state !== all[i - 1]);
  };
  const weight = new Map<string, Map<string, number>>();
  const add = (from: string, to: string, amount: number): void => {
    const row = weight.get(from) ?? new Map<string, number>();
    row.set(to, (row.get(to) ?? 0) + amount);
    weight.set(from, row);
  };
  const earned = new Map<string, number>();
  for (const row of rows.filter((row) => row.conversions + row.nulls > 0)) {
    const chain = ['start', ...statesOf(row.path)];
    chain.slice(1).forEach((state, i) => add(chain[i]!, state, row.conversions + row.nulls));
    const last = chain.at(-1)!;
    add(last, 'conversion', row.conversions);
    add(last, 'null', row.nulls);
    earned.set(last, (earned.get(last) ?? 0) + row.value);
  }
  const states = [...weight.keys()];
  const contains = (state: string): boolean =>
    removed !== null && state !== 'start' && (JSON.parse(state) as string[]).includes(removed);
  const outOf = (state: string): number => total([...weight.get(state)!.values()]);
  const matrix = states.map((from, i) =>
    states.map(
      (to, j) =>
        (i === j ? 1 : 0) - (contains(to) || to === 'start' ? 0 : (weight.get(from)!.get(to) ?? 0) / outOf(from)),
    ),
  );
  const answer = (rewards: number[]): number => solve(matrix, rewards)[states.indexOf('start')]!;
  return {
    probability: answer(states.map((state) => (weight.get(state)!.get('conversion') ?? 0) / outOf(state))),
    value: answer(states.map((state) => (earned.get(state) ?? 0) / outOf(state))),
  };
}

const walk = (worlds: readonly string[], length: number, stride: number): string[] =>
  Array.from({ length }, (_, i) => worlds[(i * i * stride + (i >> 2)) % worlds.length]!);

describe('Markov attribution', () => {
  const cases = ['tiny', 'events.journeys'].flatMap((file) => [1, 2, 3].map((order) => [file, order] as const));
  test.each(cases)('%s, order %i, equals the reference program', (file, order) => {
    const table = pathTable(readPathRows(`${file}.csv`));
    const expected = reference<Record<string, MarkovReference>>(`refs.${file}.json`)[`markov_${order}`]!;
    const result = figures('markov', { paths: table, order });
    expect(result.states).toBe(expected.states);
    expect(result.converged).toBe(true);
    expect(
      relativeDifference([result.probability, result.expectedValue], [expected.p_conv, expected.expected_value]),
    ).toBeLessThan(1e-9);
    const pairs = [
      [result.removalEffect, expected.removal_effect_conversion],
      [result.removalEffectValue, expected.removal_effect_value],
      [result.conversions, expected.conversions],
      [result.value, expected.value],
    ] as const;
    for (const [actual, record] of pairs)
      expect(relativeDifference(actual, columnOf(table.channels, record))).toBeLessThan(1e-9);
  });

  test.each([1, 2, 3, 4])('order %i equals a dense solve per removed channel', (order) => {
    fc.assert(
      fc.property(pathRows, (rows) => {
        const table = pathTable(rows);
        const result = figures('markov', { paths: table, order });
        const all = naive(rows, order, null);
        const without = table.channels.map((channel) => naive(rows, order, channel));
        expect(
          relativeDifference([result.probability, result.expectedValue], [all.probability, all.value]),
        ).toBeLessThan(1e-9);
        expect(
          relativeDifference(
            result.removalEffect,
            without.map((w) => 1 - w.probability / all.probability),
            1e-9,
          ),
        ).toBeLessThan(1e-8);
        expect(
          relativeDifference(
            result.removalEffectValue,
            without.map((w) => 1 - w.value / all.value),
            1e-9,
          ),
        ).toBeLessThan(1e-8);
      }),
      { numRuns: 60 },
    );
  });

  test.each([1, 2, 3, 4])('order %i: P is the conversion rate, credits sum to the totals', (order) => {
    fc.assert(
      fc.property(pathRows, (rows) => {
        const result = figures('markov', { paths: pathTable(rows), order });
        const { conversions, value, nulls } = result.totals;
        expect(
          relativeDifference(
            [result.probability, total(result.conversions), total(result.value)],
            [conversions / (conversions + nulls), conversions, value],
          ),
        ).toBeLessThan(1e-9);
        expect(total(result.share)).toBeCloseTo(1, 12);
      }),
    );
  });

  test.each([1, 3])('order %i: neither the order of the rows nor splitting them matters', (order) => {
    fc.assert(
      fc.property(pathRows, (rows) => {
        const channels = pathTable(rows).channels;
        const whole = figures('markov', { paths: pathTable(rows, channels), order });
        const halves = rows.map((row) => ({
          ...row,
          conversions: row.conversions / 2,
          value: row.value / 2,
          nulls: row.nulls / 2,
        }));
        const variants: PathTable[] = [
          pathTable(rows.toReversed(), channels),
          rawPathTable([...halves, ...halves], channels),
        ];
        for (const paths of variants)
          expect(relativeDifference(figures('markov', { paths, order }).value, whole.value, 1e-9)).toBeLessThan(1e-9);
      }),
    );
  });

  test('journeys of a thousand touches that hardly ever leave two separate worlds', () => {
    const rows: PathRow[] = [1, 2, 3, 5, 7].flatMap((stride) => [
      { path: walk(['a', 'b', 'c'], 1_000, stride), conversions: 1, value: 10 * stride, nulls: 2 },
      { path: walk(['d', 'e'], 1_000, stride), conversions: stride, value: 7, nulls: 1 },
      {
        path: [...walk(['a', 'b', 'c'], 400, stride), ...walk(['d', 'e'], 600, stride)],
        conversions: 1,
        value: 3,
        nulls: 9,
      },
    ]);
    for (const order of [1, 2, 3]) {
      const table = pathTable(rows);
      const result = figures('markov', { paths: table, order });
      const all = naive(rows, order, null);
      expect(result.converged).toBe(true);
      const expected = table.channels.map((channel) => 1 - naive(rows, order, channel).probability / all.probability);
      expect(relativeDifference(result.removalEffect, expected)).toBeLessThan(1e-9);
    }
  });

  test('journeys that never return to a state take one sweep per channel, and one that finds nothing left', () => {
    const channels = Array.from({ length: 40 }, (_, i) => `channel ${i}`);
    // Each journey goes up, by strides of its own; later ones lead into the middle of earlier ones.
    const upFrom = (p: number): string[] => channels.filter((_, i) => i >= 40 - (p % 40) && i % (1 + (p % 5)) === 0);
    const rows = Array.from({ length: 300 }, (_, p) => ({
      path: upFrom(p),
      conversions: p % 3,
      value: p,
      nulls: 1,
    })).filter(({ path }) => path.length > 0);
    const result = figures('markov', { paths: pathTable(rows, channels), order: 2 });
    expect(result.converged).toBe(true);
    expect(result.iterations).toBeLessThanOrEqual(2 * (channels.length + 1));
  });

  test('a chain that takes too long to solve is refused by its order; order 1 answers', () => {
    const random = seededRandom(1);
    const channels = Array.from({ length: 50 }, (_, i) => `channel ${i}`);
    const walkOf = (length: number): string[] => Array.from({ length }, () => channels[Math.floor(random() * 50)]!);
    const long = { path: walkOf(90_000), conversions: 1, value: 5, nulls: 0 };
    const short = Array.from({ length: 500 }, () => ({ path: walkOf(1), conversions: 1, value: 10, nulls: 1 }));
    const paths = pathTable([long, ...short], channels);
    const { code, message } = refusal('markov', { paths, order: 2 });
    expect([code, message]).toEqual(['too_many_channels', expect.stringContaining('Choose a lower order')]);
    expect(figures('markov', { paths, order: 1 }).converged).toBe(true);
  });

  test('more channels than a plain table of k-grams can hold', () => {
    const channels = Array.from({ length: 120 }, (_, i) => `channel ${i}`);
    const rows = Array.from({ length: 400 }, (_, p) => ({
      path: Array.from({ length: 1 + (p % 6) }, (_, i) => channels[(p * 37 + i * i * 11 + (p >> 3)) % 120]!),
      conversions: p % 3,
      value: p,
      nulls: 1 + (p % 4),
    }));
    const table = pathTable(rows, channels);
    const result = figures('markov', { paths: table, order: 4 });
    const all = naive(rows, 4, null);
    for (const x of [0, 37, 99])
      expect(result.removalEffect[x]).toBeCloseTo(1 - naive(rows, 4, channels[x]!).probability / all.probability, 10);
  });

  test('refunds that cancel the sales leave the revenue credits finite and complete', () => {
    const rows = [
      { path: ['a', 'b'], conversions: 2, value: 50, nulls: 1 },
      { path: ['b'], conversions: 1, value: -50.01, nulls: 1 },
    ];
    const result = figures('markov', { paths: pathTable(rows), order: 1 });
    expect(total(result.value)).toBeCloseTo(-0.01, 10);
    expect(total(result.share)).toBeCloseTo(1, 12);
  });

  test('an order outside 1 to 4 is refused', () => {
    for (const order of [0, 5, 1.5])
      expect(refusal('markov', { paths: pathTable(readPathRows('tiny.csv')), order }).code).toBe('invalid_input');
  });
});
