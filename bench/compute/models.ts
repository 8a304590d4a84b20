/**
 * The path models: `node --import ./processes/typescript-hook.mjs bench/compute/models.ts [paths]`
 * Ours against the obvious implementation on a tenth of the paths, then ours on all of them.
 */
import { runTask } from '../../compute/tasks.ts';
import type { TaskInput, TaskName } from '../../compute/tasks.ts';
import {
  journeysOf,
  obviousDominance,
  obviousErrors,
  obviousMarkov,
  obviousRelativeWeights,
  obviousRules,
  obviousShapley,
} from './obvious-models.ts';
import { bestOfMs, say, sayMemory, sayRatio, sayTime } from './stopwatch.ts';
import { syntheticPaths } from './synthetic-tables.ts';

const paths = Number(process.argv[2] ?? 2_000_000);
const CHANNELS = 12;

function figures<Name extends TaskName>(name: Name, input: TaskInput<Name>) {
  const outcome = runTask(name, input, () => undefined);
  if (!outcome.ok) throw new Error(`${name}: ${outcome.message}`);
  return outcome;
}

/** Both give the same figures, or the comparison of their times means nothing. */
function expectSame(name: string, ours: ArrayLike<number>, obvious: ArrayLike<number>): void {
  for (let c = 0; c < ours.length; c++)
    if (!(Math.abs(ours[c]! - obvious[c]!) <= 1e-8 * Math.abs(obvious[c]!) + 1e-12))
      throw new Error(`${name}: ${ours[c]} is not ${obvious[c]}`);
}

const some = syntheticPaths(paths / 10, CHANNELS, 1);
const journeys = journeysOf(some);
const { channels } = some;
say(`${some.conversions.length} paths × ${CHANNELS} channels; ours with intervals, the obvious without`);
const unattributed = { conversions: 0, value: 0 };
const of = (credit: ReadonlyMap<string, number>): number[] => channels.map((channel) => credit.get(channel) ?? 0);
for (const order of [1, 2]) {
  expectSame(
    `Markov ${order}`,
    figures('markov', { paths: some, order }).removalEffect,
    obviousMarkov(journeys, channels, order),
  );
  sayRatio(
    `Markov ${order}`,
    bestOfMs(3, () => figures('markov', { paths: some, order })),
    bestOfMs(2, () => obviousMarkov(journeys, channels, order)),
  );
}
expectSame('Shapley', figures('shapley', { paths: some }).conversions, of(obviousShapley(journeys)));
sayRatio(
  'Shapley',
  bestOfMs(3, () => figures('shapley', { paths: some })),
  bestOfMs(2, () => obviousShapley(journeys)),
);
expectSame(
  'dominance',
  figures('dominance', { paths: some }).conversionOutcome.weight,
  obviousDominance(journeys, channels),
);
sayRatio(
  'dominance',
  bestOfMs(3, () => figures('dominance', { paths: some })),
  bestOfMs(2, () => obviousDominance(journeys, channels)),
);
expectSame(
  'relative weights',
  figures('rwa', { paths: some }).conversionOutcome.weight,
  obviousRelativeWeights(journeys, channels),
);
sayRatio(
  'relative weights',
  bestOfMs(3, () => figures('rwa', { paths: some })),
  bestOfMs(2, () => obviousRelativeWeights(journeys, channels)),
);
const { last, first, linear, position, timeDecay } = figures('comparison', { paths: some, unattributed }).rules;
obviousRules(journeys).forEach((rule, r) =>
  expectSame('comparison rules', [last, first, linear, position, timeDecay][r]!.conversions, of(rule)),
);
sayRatio(
  'comparison rules',
  bestOfMs(3, () => figures('comparison', { paths: some, unattributed })),
  bestOfMs(2, () => obviousRules(journeys)),
);

const few = syntheticPaths(10_000, CHANNELS, 4);
const fewJourneys = journeysOf(few);
say(`\n${few.conversions.length} paths, standard errors`);
sayRatio(
  'Markov 1',
  bestOfMs(3, () => figures('markov', { paths: few, order: 1 })),
  bestOfMs(1, () => obviousErrors(fewJourneys, (rest) => obviousMarkov(rest, channels))),
);
sayRatio(
  'Shapley',
  bestOfMs(3, () => figures('shapley', { paths: few })),
  bestOfMs(1, () => obviousErrors(fewJourneys, (rest) => of(obviousShapley(rest)))),
);
sayRatio(
  'dominance',
  bestOfMs(3, () => figures('dominance', { paths: few })),
  bestOfMs(1, () => obviousErrors(fewJourneys, (rest) => obviousDominance(rest, channels))),
);
sayRatio(
  'relative weights',
  bestOfMs(3, () => figures('rwa', { paths: few })),
  bestOfMs(1, () => obviousErrors(fewJourneys, (rest) => obviousRelativeWeights(rest, channels))),
);

const all = syntheticPaths(paths, CHANNELS, 2);
say(`\n${paths} paths × ${CHANNELS} channels, ${all.steps.length} touches, with intervals`);
for (const order of [1, 2, 3, 4])
  sayTime(
    `Markov ${order}`,
    bestOfMs(5, () => figures('markov', { paths: all, order })),
  );
sayTime(
  'Shapley',
  bestOfMs(5, () => figures('shapley', { paths: all })),
);
sayTime(
  'dominance',
  bestOfMs(5, () => figures('dominance', { paths: all })),
);
sayTime(
  'relative weights',
  bestOfMs(5, () => figures('rwa', { paths: all })),
);
sayTime(
  'comparison rules',
  bestOfMs(5, () => figures('comparison', { paths: all, unattributed })),
);

say('\nmany channels, 50000 paths');
for (const [count, note] of [
  [20, 'all 2^20 subsets'],
  [40, 'sampled'],
  [60, 'sampled'],
] as const) {
  const wide = syntheticPaths(50_000, count, 3);
  const { exact, evaluations, conversionOutcome } = figures('dominance', { paths: wide });
  const error = Math.max(
    ...conversionOutcome.standardError.map((each, c) => each / Math.max(1e-300, conversionOutcome.weight[c]!)),
  );
  sayTime(
    `dominance, ${count} channels (${note})`,
    bestOfMs(2, () => figures('dominance', { paths: wide })),
  );
  if (!exact) say(`  ${evaluations} orderings; largest relative error of a weight ${(100 * error).toFixed(2)} %`);
  sayTime(
    `relative weights, ${count} channels`,
    bestOfMs(2, () => figures('rwa', { paths: wide })),
  );
  sayTime(
    `Markov 1, ${count} channels`,
    bestOfMs(2, () => figures('markov', { paths: wide, order: 1 })),
  );
  sayTime(
    `Markov 2, ${count} channels`,
    bestOfMs(2, () => figures('markov', { paths: wide, order: 2 })),
  );
  sayTime(
    `Shapley, ${count} channels`,
    bestOfMs(2, () => figures('shapley', { paths: wide })),
  );
}
sayMemory();
