import * as fc from 'fast-check';
import type { Association } from '../../../compute/models/association-result.ts';
import type { PresenceCorrelations } from '../../../compute/models/channel-presence.ts';
import { presenceCorrelations, valueDeviation, varyingChannels } from '../../../compute/models/channel-presence.ts';
import { channelSets } from '../../../compute/models/channel-sets.ts';
import { exactDominance } from '../../../compute/models/dominance/exact-dominance.ts';
import { sampledDominance } from '../../../compute/models/dominance/sampled-dominance.ts';
import { sumPresence } from '../../../compute/models/presence-sums.ts';
import { columnOf, relativeDifference, total } from '../closeness.ts';
import { pathRows } from '../path-rows.ts';
import { pathTable, rawPathTable, readPathRows, reference } from '../reference-data.ts';
import type { PathRow } from '../reference-data.ts';
import { figures, refusal } from '../run-in-thread.ts';

interface AssociationReference {
  r2: number;
  general?: Record<string, number>;
  raw?: Record<string, number>;
  credit: Record<string, number>;
  sign?: Record<string, number>;
  sign_beta?: Record<string, number>;
}

interface Observation {
  readonly row: PathRow;
  readonly weight: number;
  readonly y: number;
}

const dot = (a: readonly number[], b: readonly number[]): number => total(a.map((x, i) => x * b[i]!));

/** R² of a weighted regression with intercept on some channels, by Gram–Schmidt on the observations themselves. */
function rSquared(observations: readonly Observation[], channels: readonly string[]): number {
  const roots = observations.map(({ weight }) => Math.sqrt(weight));
  const basis: number[][] = [];
  const residual = (column: readonly number[]): number[] => {
    let rest = [...column];
    for (let pass = 0; pass < 2; pass++)
      for (const unit of basis) {
        const along = dot(rest, unit);
        rest = rest.map((x, i) => x - along * unit[i]!);
      }
    return rest;
  };
  const extend = (column: readonly number[]): void => {
    const rest = residual(column);
    const length = Math.sqrt(dot(rest, rest));
    if (length > 1e-7) basis.push(rest.map((x) => x / length));
  };
  const y = observations.map((observation, i) => observation.y * roots[i]!);
  extend(roots);
  const around = residual(y);
  for (const channel of channels)
    extend(observations.map(({ row }, i) => (row.path.includes(channel) ? roots[i]! : 0)));
  const left = residual(y);
  const spread = dot(around, around);
  return spread < 1e-12 ? 0 : 1 - dot(left, left) / spread;
}

function observe(rows: readonly PathRow[], outcome: 'conversion' | 'value'): Observation[] {
  return rows.flatMap((row) => [
    ...(row.conversions > 0
      ? [{ row, weight: row.conversions, y: outcome === 'conversion' ? 1 : row.value / row.conversions }]
      : []),
    ...(row.nulls > 0 ? [{ row, weight: row.nulls, y: 0 }] : []),
  ]);
}

/** General dominance by its definition: mean over subset sizes of the mean gain. */
function bruteDominance(observations: readonly Observation[], channels: readonly string[]): number[] {
  return channels.map((channel) => {
    const others = channels.filter((name) => name !== channel);
    const gains: number[][] = channels.map(() => []);
    for (let code = 0; code < 2 ** others.length; code++) {
      const subset = others.filter((_, i) => (code >> i) & 1);
      gains[subset.length]!.push(rSquared(observations, [...subset, channel]) - rSquared(observations, subset));
    }
    return total(gains.map((list) => total(list) / list.length)) / channels.length;
  });
}

const distinct = (rows: readonly PathRow[]): PathRow[] =>
  [...Map.groupBy(rows, (row) => row.path.join('>')).values()].map((same) => ({
    path: same[0]!.path,
    conversions: total(same.map((row) => row.conversions)),
    value: total(same.map((row) => row.value)),
    nulls: total(same.map((row) => row.nulls)),
  }));

describe.each(['dominance', 'rwa'] as const)('%s', (model) => {
  test.each(['tiny', 'events.journeys'])('%s equals the reference program', (file) => {
    const table = pathTable(readPathRows(`${file}.csv`));
    const references = reference<Record<string, AssociationReference>>(`refs.${file}.json`);
    const result = figures(model, { paths: table, seed: 1 });
    const check = (association: Association, credit: Float64Array, expected: AssociationReference): void => {
      expect(relativeDifference([association.r2], [expected.r2])).toBeLessThan(1e-9);
      expect(
        relativeDifference(association.weight, columnOf(table.channels, (expected.general ?? expected.raw)!)),
      ).toBeLessThan(1e-9);
      expect(relativeDifference(credit, columnOf(table.channels, expected.credit))).toBeLessThan(1e-9);
      expect([...association.sign]).toEqual(columnOf(table.channels, (expected.sign ?? expected.sign_beta)!));
    };
    check(result.conversionOutcome, result.conversions, references[`${model}_conversion`]!);
    check(result.valueOutcome, result.value, references[`${model}_value`]!);
  });

  test('weights are never negative, sum to R² of the regression, and credits to the totals', () => {
    fc.assert(
      fc.property(pathRows.map(distinct), (rows) => {
        const table = pathTable(rows);
        const r2 = rSquared(observe(rows, 'conversion'), table.channels);
        fc.pre(r2 > 1e-6 && r2 < 1 - 1e-9);
        const result = figures(model, { paths: table, seed: 1 });
        expect(result.conversionOutcome.r2).toBeCloseTo(r2, 8);
        expect(Math.min(...result.conversionOutcome.weight, ...result.valueOutcome.weight)).toBeGreaterThanOrEqual(0);
        expect(
          relativeDifference(
            [total(result.conversions), total(result.value)],
            [result.totals.conversions, result.totals.value],
          ),
        ).toBeLessThan(1e-9);
      }),
    );
  });

  test('neither the order of the rows nor splitting them matters', () => {
    fc.assert(
      fc.property(pathRows.map(distinct), (rows) => {
        const { channels } = pathTable(rows);
        fc.pre(
          rSquared(observe(rows, 'conversion'), channels) > 1e-3 && rSquared(observe(rows, 'value'), channels) > 1e-3,
        );
        const whole = figures(model, { paths: pathTable(rows, channels), seed: 1 });
        const halves = rows.map((row) => ({
          ...row,
          conversions: row.conversions / 2,
          value: row.value / 2,
          nulls: row.nulls / 2,
        }));
        for (const paths of [pathTable(rows.toReversed(), channels), rawPathTable([...halves, ...halves], channels)]) {
          const again = figures(model, { paths, seed: 1 });
          expect(relativeDifference(again.conversionOutcome.weight, whole.conversionOutcome.weight, 1e-9)).toBeLessThan(
            1e-7,
          );
          expect(relativeDifference(again.valueOutcome.weight, whole.valueOutcome.weight, 1e-9)).toBeLessThan(1e-7);
        }
      }),
    );
  });

  test('channels that always occur together share alike', () => {
    const rows = [
      { path: ['a', 'twin', 'b'], conversions: 5, value: 100, nulls: 3 },
      { path: ['twin', 'a'], conversions: 4, value: 90, nulls: 2 },
      { path: ['b'], conversions: 1, value: 30, nulls: 9 },
      { path: ['c'], conversions: 2, value: 10, nulls: 7 },
    ];
    const table = pathTable(rows);
    const { weight } = figures(model, { paths: table, seed: 1 }).conversionOutcome;
    const [a, twin] = ['a', 'twin'].map((name) => weight[table.channels.indexOf(name)]!);
    expect(a).toBeCloseTo(twin!, 12);
    expect(a).toBeGreaterThan(0);
    expect(total(weight)).toBeCloseTo(rSquared(observe(rows, 'conversion'), table.channels), 10);
  });

  test('refuses where presence cannot be compared with absence, and says why', () => {
    const everywhere = pathTable([{ path: ['a'], conversions: 2, value: 10, nulls: 3 }]);
    expect(refusal(model, { paths: everywhere, seed: 1 }).message).toContain('same channels');
    const converted = pathTable([
      { path: ['a'], conversions: 2, value: 20, nulls: 0 },
      { path: ['b'], conversions: 1, value: 10, nulls: 0 },
    ]);
    expect(refusal(model, { paths: converted, seed: 1 }).message).toContain('Every journey converted');
  });

  test('an association that is only rounding is none', () => {
    const alike = [['a'], ['b'], ['a', 'b'], ['a', 'c'], ['c']].map((path, i) => ({
      path,
      conversions: 0.1 * (i + 1),
      value: 0.7 * (i + 1),
      nulls: 0.3 * (i + 1),
    }));
    expect(refusal(model, { paths: pathTable(alike), seed: 1 }).message).toContain('explains nothing');
  });

  test('all journeys convert with different revenue: conversions are divided like revenue, with a warning', () => {
    const rows = [
      { path: ['a'], conversions: 2, value: 20, nulls: 0 },
      { path: ['b', 'c'], conversions: 1, value: 50, nulls: 0 },
      { path: ['c'], conversions: 3, value: 60, nulls: 0 },
    ];
    const result = figures(model, { paths: pathTable(rows), seed: 1 });
    expect(total(result.conversions)).toBeCloseTo(6, 10);
    expect(result.warnings.join()).toContain('divide conversions like revenue');
  });
});

const correlations = (): PresenceCorrelations => {
  const table = pathTable(readPathRows('events.journeys.csv'));
  const sums = sumPresence(
    channelSets(table, 'all', () => undefined),
    table.channels.length,
    () => undefined,
  );
  return presenceCorrelations(
    sums,
    table.channels.length,
    varyingChannels(sums, table.channels.length),
    valueDeviation(table, sums),
  );
};
const sampled = (seed: number): number[] => [...sampledDominance(correlations(), seed, () => undefined).conversion];

describe('dominance weights', () => {
  test('equal the definition over all subsets, each regressed anew', () => {
    fc.assert(
      fc.property(pathRows.map(distinct), (rows) => {
        const table = pathTable(rows);
        for (const outcome of ['conversion', 'value'] as const) {
          const observations = observe(rows, outcome);
          if (rSquared(observations, table.channels) < 1e-6) continue;
          const result = figures('dominance', { paths: table, seed: 1 });
          const { weight } = outcome === 'conversion' ? result.conversionOutcome : result.valueOutcome;
          bruteDominance(observations, table.channels).forEach((expected, c) =>
            expect(weight[c]).toBeCloseTo(expected, 8),
          );
        }
      }),
      { numRuns: 40 },
    );
  });

  test('sampled orderings stay within their standard error of the exact weights and sum to R²', () => {
    const exact = exactDominance(correlations(), () => undefined);
    const sampled = sampledDominance(correlations(), 7, () => undefined);
    sampled.conversion.forEach((weight, i) =>
      expect(Math.abs(weight - exact.conversion[i]!)).toBeLessThan(5 * sampled.conversionError[i]! + 1e-12),
    );
    sampled.value.forEach((weight, i) =>
      expect(Math.abs(weight - exact.value[i]!)).toBeLessThan(5 * sampled.valueError[i]! + 1e-12),
    );
    expect(Math.max(...sampled.conversionError)).toBeLessThan(0.02 * total(exact.conversion));
    expect(total(sampled.conversion)).toBeCloseTo(total(exact.conversion), 12);
  });

  test('the same seed gives the same bits, another seed others', () => {
    expect(sampled(3)).toEqual(sampled(3));
    expect(sampled(3)).not.toEqual(sampled(4));
  });

  test('above 20 varying channels the answer says that it is sampled', () => {
    const channels = Array.from({ length: 24 }, (_, i) => `c${i}`);
    const rows = Array.from({ length: 200 }, (_, p) => ({
      path: channels.filter((_, c) => Math.imul(p * 97 + c * 31 + 7, 0x9e3779b1) >>> 28 < 4).concat(channels[p % 24]!),
      conversions: p % 3,
      value: p % 3 === 0 ? 0 : 10 + p,
      nulls: 1 + (p % 5),
    }));
    const result = figures('dominance', { paths: pathTable(rows, channels), seed: 1 });
    expect(result.exact).toBe(false);
    expect(Math.max(...result.conversionOutcome.standardError)).toBeGreaterThan(0);
    expect(total(result.conversionOutcome.weight)).toBeCloseTo(
      rSquared(observe(distinct(rows), 'conversion'), channels),
      8,
    );
  });
});
