// What tasks leave behind in the process once they are over: `npm run bench compute/task-memory`
// Thousands of small tasks to fill what fills once, then as many rounds as tell a leak from noise.
import { createComputePool } from '../../compute/pool.ts';
import { syntheticPaths } from './synthetic-tables.ts';

const [WARM_ROUNDS, ROUNDS, TASKS] = [10, 10, 3_000];
const THREADS = 2;
/** A port that is not freed takes 2.5 kB. */
const MOST_BYTES_PER_TASK = 250;

const pool = createComputePool({ threads: THREADS });
const paths = syntheticPaths(200, 5, 1);

async function residentAfterRound(): Promise<number> {
  for (let done = 0; done < TASKS; done += THREADS)
    await Promise.all(Array.from({ length: THREADS }, () => pool.run('shapley', { paths })));
  return process.memoryUsage.rss();
}

await pool.warm();
for (let round = 0; round < WARM_ROUNDS; round += 1) await residentAfterRound();
const before = await residentAfterRound();
let after = before;
for (let round = 0; round < ROUNDS; round += 1) after = await residentAfterRound();
await pool.close();
const perTask = (after - before) / (ROUNDS * TASKS);
process.stdout.write(
  `${Math.round(before / 1024 ** 2)} to ${Math.round(after / 1024 ** 2)} MiB resident over ${ROUNDS * TASKS} tasks: ` +
    `${perTask.toFixed(0)} bytes each (at most ${MOST_BYTES_PER_TASK}: ` +
    `${perTask <= MOST_BYTES_PER_TASK ? 'met' : 'MISSED'})\n`,
);
