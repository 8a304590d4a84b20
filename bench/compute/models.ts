/**
 * The path models: `node --import ./processes/typescript-hook.mjs bench/compute/models.ts [paths]`
 * Ours against the obvious implementation on a tenth of the paths, then ours on all of them.
 */
import { runTask } from '../../compute/tasks.ts';
import type { TaskInput, TaskName } from '../../compute/tasks.ts';
import { journeysOf, obviousDominance, obviousMarkov, obviousShapley } from './obvious-models.ts';
import { bestOfMs, say, sayMemory, sayRatio, sayTime } from './stopwatch.ts';
import { syntheticPaths } from './synthetic-tables.ts';

const paths = Number(process.argv[2] ?? 2_000_000);
const CHANNELS = 12;

function must<Name extends TaskName>(name: Name, input: TaskInput<Name>): void {
  const outcome = runTask(name, input, () => undefined);
  if (!outcome.ok) throw new Error(`${name}: ${outcome.message}`);
}

const some = syntheticPaths(paths / 10, CHANNELS, 1);
const journeys = journeysOf(some);
say(`${some.conversions.length} paths × ${CHANNELS} channels`);
sayRatio('Markov 1', bestOfMs(3, () => must('markov', { paths: some, order: 1 })), bestOfMs(1, () => obviousMarkov(journeys, some.channels)));
sayRatio('Shapley', bestOfMs(3, () => must('shapley', { paths: some })), bestOfMs(1, () => obviousShapley(journeys)));
sayRatio('dominance', bestOfMs(3, () => must('dominance', { paths: some, seed: 1 })), bestOfMs(1, () => obviousDominance(journeys, some.channels)));

const all = syntheticPaths(paths, CHANNELS, 2);
say(`\n${paths} paths × ${CHANNELS} channels, ${all.steps.length} touches`);
for (const order of [1, 2, 3, 4]) sayTime(`Markov ${order}`, bestOfMs(3, () => must('markov', { paths: all, order })));
sayTime('Shapley', bestOfMs(3, () => must('shapley', { paths: all })));
sayTime('dominance', bestOfMs(3, () => must('dominance', { paths: all, seed: 1 })));
sayTime('relative weights', bestOfMs(3, () => must('rwa', { paths: all })));
sayTime('comparison rules', bestOfMs(3, () => must('comparison', { paths: all, unattributed: { conversions: 0, value: 0 } })));

for (const [channels, note] of [[20, 'exact, 2^20 subsets'], [60, 'sampled']] as const) {
  const wide = syntheticPaths(50_000, channels, 3);
  sayTime(`dominance, ${channels} channels (${note})`, bestOfMs(3, () => must('dominance', { paths: wide, seed: 1 })));
}
sayMemory();
