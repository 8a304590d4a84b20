import * as fc from 'fast-check';
import type { PathTable } from '../../../compute/journey-tables.ts';
import type { CreditIntervals, Replication } from '../../../compute/models/credit-intervals.ts';
import { runDominance } from '../../../compute/models/dominance/dominance.ts';
import { runMarkov } from '../../../compute/models/markov/markov.ts';
import { runRelativeWeights } from '../../../compute/models/relative-weights/relative-weights.ts';
import { runShapley } from '../../../compute/models/shapley/shapley.ts';
import { jackknifeError } from '../../../compute/numerics/jackknife.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';
import type { ChannelCredits } from '../../../compute/outcome.ts';
import { runTask } from '../../../compute/tasks.ts';
import { relativeDifference, total } from '../closeness.ts';
import { pathRows } from '../path-rows.ts';
import { pathTable, rawPathTable } from '../reference-data.ts';
import { figures } from '../run-in-thread.ts';
import { drawJourneys } from './shop-chain.ts';

type Sure = ChannelCredits & CreditIntervals;

interface Case {
  readonly name: string;
  readonly task: 'markov' | 'shapley' | 'dominance' | 'rwa';
  readonly order: number;
}

const CASES: readonly Case[] = [
  { name: 'Markov of order 1', task: 'markov', order: 1 },
  { name: 'Markov of order 2', task: 'markov', order: 2 },
  { name: 'Shapley', task: 'shapley', order: 1 },
  { name: 'dominance', task: 'dominance', order: 1 },
  { name: 'relative weights', task: 'rwa', order: 1 },
];
const run = ({ task, order }: Case, paths: PathTable, seed: number, confidenceLevel = 0.95): Sure =>
  figures(task, { paths, order, seed, confidenceLevel });

/** The paths without one of their journeys, and how many such journeys there are. */
function withoutOne(paths: PathTable): { table: PathTable; times: number }[] {
  return Array.from(paths.conversions.keys()).flatMap((p) => {
    const less = (column: Float64Array, by: number): Float64Array =>
      column.map((amount, i) => (i === p ? amount - by : amount));
    const converted = paths.conversions[p]!;
    const conversion = {
      ...paths,
      conversions: less(paths.conversions, 1),
      value: less(paths.value, paths.value[p]! / converted),
    };
    return [
      ...(converted > 0 ? [{ table: conversion, times: converted }] : []),
      ...(paths.nulls[p]! > 0 ? [{ table: { ...paths, nulls: less(paths.nulls, 1) }, times: paths.nulls[p]! }] : []),
    ];
  });
}

const ALONE = {
  markov: (paths: PathTable, order: number, replication: Replication) =>
    runMarkov(paths, order, replication, () => undefined),
  shapley: (paths: PathTable, _: number, replication: Replication) => runShapley(paths, replication, () => undefined),
  dominance: (paths: PathTable, _: number, replication: Replication) =>
    runDominance(paths, replication, () => undefined),
  rwa: (paths: PathTable, _: number, replication: Replication) =>
    runRelativeWeights(paths, replication, () => undefined),
};

describe.each(CASES)('credit without intervals by $name', (model) => {
  test('is the same, and there are no replicates', () => {
    const paths = drawJourneys(3_000, seededRandom(4));
    const alone = ALONE[model.task](paths, model.order, { confidenceLevel: 0.95, seed: 1, creditAlone: true });
    const whole = run(model, paths, 1);
    if (!alone.ok) throw new Error(alone.message);
    expect(relativeDifference(alone.value, whole.value)).toBeLessThan(1e-7);
    expect(relativeDifference(alone.share, whole.share)).toBeLessThan(1e-7);
    expect(alone).toMatchObject({ groups: 0, intervalLow: alone.value, intervalHigh: alone.value });
    expect(alone.replicates).toHaveLength(0);
  });
});

describe.each(CASES)('intervals of $name', (model) => {
  test('cover the credit of the population as often as they say', () => {
    const JOURNEYS = 1_500;
    const POPULATION = 200_000;
    const TRIALS = 100;
    const truth = run(model, drawJourneys(POPULATION, seededRandom(99)), 1).value.map(
      (value) => (value * JOURNEYS) / POPULATION,
    );
    const random = seededRandom(5);
    const covered = truth.map(() => 0);
    for (let trial = 0; trial < TRIALS; trial++) {
      const { intervalLow, intervalHigh } = run(model, drawJourneys(JOURNEYS, random), trial, 0.9);
      truth.forEach((value, c) => (covered[c]! += Number(intervalLow[c]! <= value && value <= intervalHigh[c]!)));
    }
    // Weights of association are squares: of a channel whose association drowns in noise they are too large, and cover
    // less.
    const least = model.task === 'dominance' || model.task === 'rwa' ? 0.68 : 0.8;
    for (const times of covered) {
      expect(times / TRIALS).toBeGreaterThan(least);
      expect(times / TRIALS).toBeLessThan(0.99);
    }
    expect(covered[0]! / TRIALS).toBeGreaterThan(0.8);
  });

  test('are as wide as leaving out each single journey says', () => {
    const { valueSquares: _, ...paths } = drawJourneys(800, seededRandom(3));
    const each = withoutOne(paths).map(({ table, times }) => ({ value: run(model, table, 1).value, times }));
    const journeys = total(each.map(({ times }) => times));
    const rounds = 40;
    paths.channels.forEach((_, c) => {
      const mean = total(each.map(({ value, times }) => value[c]! * times)) / journeys;
      const variance =
        ((journeys - 1) / journeys) *
        total(
          each.map(
            ({ value, times }) =>
              times * ((value[c]! * journeys) / (journeys - 1) - (mean * journeys) / (journeys - 1)) ** 2,
          ),
        );
      let grouped = 0;
      for (let seed = 0; seed < rounds; seed++)
        grouped += jackknifeError(run(model, paths, seed).replicates, 50, c, paths.channels.length) ** 2 / rounds;
      expect(grouped / variance).toBeGreaterThan(0.75);
      expect(grouped / variance).toBeLessThan(1.33);
    });
  });

  test('hold the credit; replicates scatter around it and sum to revenue; the same seed gives the same bits', () => {
    fc.assert(
      fc.property(pathRows, (rows) => {
        const paths = pathTable(rows);
        fc.pre(runTask(model.task, { paths, order: model.order }, () => undefined).ok);
        const { value, replicates, groups, intervalLow, intervalHigh } = run(model, paths, 4);
        expect(replicates.length).toBe(groups * value.length);
        expect(replicates.every(Number.isFinite)).toBe(true);
        value.forEach((amount, c) => {
          expect(intervalLow[c]).toBeLessThanOrEqual(amount + 1e-9 * total(value));
          expect(intervalHigh[c]).toBeGreaterThanOrEqual(amount - 1e-9 * total(value));
        });
        const revenue = total(replicates) / groups;
        expect(relativeDifference([revenue], [total(value)])).toBeLessThan(1e-6);
        expect(run(model, paths, 4).replicates).toEqual(replicates);
      }),
      { numRuns: 30 },
    );
  });
});

describe('intervals', () => {
  const paths = drawJourneys(3_000, seededRandom(8));

  test('another seed draws other groups, for the same credit', () => {
    for (const model of CASES) {
      expect(run(model, paths, 2).value).toEqual(run(model, paths, 1).value);
      expect(run(model, paths, 2).replicates).not.toEqual(run(model, paths, 1).replicates);
    }
  });

  test('are wider at a higher level, and half as wide with four times the journeys', () => {
    const width = ({ intervalLow, intervalHigh }: CreditIntervals): number => total(intervalHigh) - total(intervalLow);
    const fourfold = {
      ...paths,
      conversions: paths.conversions.map((n) => 4 * n),
      nulls: paths.nulls.map((n) => 4 * n),
      value: paths.value.map((v) => 4 * v),
      valueSquares: paths.valueSquares!.map((q) => 4 * q),
    };
    for (const model of CASES) {
      expect(width(run(model, paths, 1, 0.99))).toBeGreaterThan(1.2 * width(run(model, paths, 1, 0.9)));
      const ratio =
        total(Array.from({ length: 20 }, (_, seed) => width(run(model, fourfold, seed)))) /
        total(Array.from({ length: 20 }, (_, seed) => width(run(model, paths, seed))));
      expect(ratio / 4).toBeGreaterThan(0.42);
      expect(ratio / 4).toBeLessThan(0.58);
    }
  });

  test('know the spread of order values where the table does', () => {
    const one = { path: ['a'], conversions: 400, value: 40_000, nulls: 600 };
    const other = { path: ['b'], conversions: 100, value: 10_000, nulls: 100 };
    const equal = rawPathTable([one, other], ['a', 'b']);
    const spread = { ...equal, valueSquares: Float64Array.of(400 * 130_000, 100 * 130_000) };
    const error = (table: PathTable): number =>
      jackknifeError(figures('shapley', { paths: table }).replicates, 50, 0, 2);
    // 400 orders of 100 ± 346: √(400·0.8)·100 from their number, √400·346 from their values.
    expect(error(equal)).toBeGreaterThan(1_200);
    expect(error(equal)).toBeLessThan(2_800);
    expect(error(spread)).toBeGreaterThan(5_500);
    expect(error(spread)).toBeLessThan(9_000);
  });

  test('count the number of journeys as chance too: where all converted alike, no path model is certain', () => {
    const paths = pathTable([{ path: ['a', 'b'], conversions: 100, value: 5_000, nulls: 0 }]);
    const error = (task: 'markov' | 'shapley'): number =>
      total(
        Array.from(
          { length: 40 },
          (_, seed) => jackknifeError(figures(task, { paths, order: 1, seed }).replicates, 50, 0, 2) ** 2 / 40,
        ),
      ) ** 0.5;
    // Half of a Poisson number of orders of 50: 25·√100.
    for (const task of ['markov', 'shapley'] as const) {
      expect(error(task)).toBeGreaterThan(200);
      expect(error(task)).toBeLessThan(300);
    }
  });

  test('a chain with too many states takes the relative errors of order 1, and says so', () => {
    const random = seededRandom(6);
    const channels = Array.from({ length: 400 }, (_, c) => `c${c}`);
    const rows = Array.from({ length: 5_500 }, (_, i) => ({
      path: Array.from({ length: 5 }, () => channels[Math.floor(random() * 400)]!),
      conversions: i % 3,
      value: (i % 3) * 20,
      nulls: 2,
    }));
    const many = rawPathTable(rows, channels);
    const result = figures('markov', { paths: many, order: 4 });
    expect(result.warnings.join()).toContain('order 4 has too many states');
    const first = run(CASES[0]!, many, 1);
    const relative = ({ value, replicates, groups }: Sure, c: number): number =>
      jackknifeError(replicates, groups, c, channels.length) / value[c]!;
    channels.forEach((_, c) => expect(relative(result, c)).toBeCloseTo(relative(first, c), 9));
  });

  test('above 100 channels association makes do with 10 groups', () => {
    const random = seededRandom(6);
    const channels = Array.from({ length: 105 }, (_, c) => `c${c}`);
    const rows = Array.from({ length: 2_000 }, (_, i) => ({
      path: Array.from({ length: 5 }, () => channels[Math.floor(random() ** 2 * 105)]!),
      conversions: i % 7 === 0 ? 1 : 0,
      value: i % 7 === 0 ? 30 : 0,
      nulls: 1,
    }));
    const { groups, replicates, value } = figures('rwa', { paths: rawPathTable(rows, channels) });
    expect(groups).toBe(10);
    expect(replicates.length).toBe(10 * value.length);
    expect(jackknifeError(replicates, groups, 0, 105)).toBeGreaterThan(0);
  });
});
