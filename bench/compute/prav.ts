/**
 * PRAV and the causal model through the pool: `node --import ./processes/typescript-hook.mjs bench/compute/prav.ts
 * [events …]` First ours against the obvious implementation (of κ and its jackknife only) on 200,000 events.
 */
import { createComputePool } from '../../compute/pool.ts';
import { runTask } from '../../compute/tasks.ts';
import { obviousKappas } from './obvious-models.ts';
import { bestOfMs, say, sayMemory, sayRatio, sayTime } from './stopwatch.ts';
import { syntheticEvents, syntheticPaths, wholeRange } from './synthetic-tables.ts';

const CHANNELS = 12;
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_350_000, 10_000_000];

const few = syntheticEvents(200_000, CHANNELS, 1);
say(`${few.timeS.length} events`);
sayRatio(
  'PRAV (obvious: κ alone)',
  bestOfMs(3, () => runTask('prav', { events: few, options: wholeRange(few) }, () => undefined)),
  bestOfMs(1, () => obviousKappas(few, wholeRange(few))),
);

const pool = createComputePool({ threads: 2 });
await pool.warm();
for (const size of sizes) {
  const events = syntheticEvents(size, CHANNELS, 2);
  const paths = syntheticPaths(Math.floor(size / 20), CHANNELS, 2);
  const options = wholeRange(events);
  say(`\n${events.timeS.length} events, ${paths.conversions.length} paths`);
  for (let run = 1; run <= 3; run++) {
    const begin = performance.now();
    const [prav, comparison, markov, shapley, dominance, rwa] = await Promise.all([
      pool.run('prav', { events, options }),
      pool.run('comparison', { events, options }),
      pool.run('markov', { paths, order: 1 }),
      pool.run('shapley', { paths }),
      pool.run('dominance', { paths, seed: 1 }),
      pool.run('rwa', { paths }),
    ]);
    if (!prav.ok || !comparison.ok) throw new Error('PRAV or the comparison failed');
    sayTime(`all members, run ${run}`, performance.now() - begin);
    const combine = performance.now();
    const totals = { conversions: prav.rangeConversions, revenue: prav.rangeRevenue };
    const causal = await pool.run('causal', {
      channels: events.channels,
      isBaseline: options.isBaseline,
      confidenceLevel: 0.95,
      totals,
      members: { markov, shapley, dominance, rwa, prav },
      comparison,
      spend: new Float64Array(events.channels.length),
      isOwnedMedia: new Uint8Array(events.channels.length),
      experiments: [],
    });
    if (!causal.ok) throw new Error(causal.message);
    sayTime('  then causal', performance.now() - combine);
  }
}
await pool.close();
sayMemory();
