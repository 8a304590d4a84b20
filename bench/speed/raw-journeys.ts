// Raw journeys in a CSV file to the four path models: ours on two threads against the single-threaded floor, in one
// run. npm run bench speed/raw-journeys 10 million journeys npm run bench speed/raw-journeys 1000000 Ours checks the
// table and gives intervals; the floor does not. The figures must agree. "Cores" is what each got of the machine: a
// comparison counts where the floor had one and ours had two.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createComputePool } from '../../compute/pool.ts';
import { say, sayTime } from '../compute/stopwatch.ts';
import { joined, READER, roomFor } from './path-columns.ts';
import type { FilePart, PartRead } from './path-columns.ts';
import { floorOf } from './floor.ts';
import type { FourModels } from './floor.ts';
import { writeJourneys } from './journey-rows.ts';

const journeys = Number(process.argv[2] ?? 10_000_000);
const THREADS = 2;
const ROUNDS = 3;

const folder = mkdtempSync(join(tmpdir(), 'liftgraph-bench-'));
const file = join(folder, 'journeys.csv');
writeJourneys(file, journeys);
const { size } = statSync(file);
say(`${journeys} journeys, ${(size / 1e6).toFixed(0)} MB`);

const pool = createComputePool({ threads: THREADS });
await pool.warm();
const readers = await Promise.all(Array.from({ length: THREADS }, startReader));
try {
  const best = { floor: Infinity, ours: Infinity };
  for (let round = 1; round <= ROUNDS; round++) {
    const began = performance.now();
    const beganCpu = process.cpuUsage();
    const floor = floorOf(file);
    const floorMs = performance.now() - began;
    const floorCpu = process.cpuUsage(beganCpu);
    const { models, readMs, paths } = await ours();
    const oursMs = performance.now() - began - floorMs;
    const bothCpu = process.cpuUsage(beganCpu);
    const cores = (ms: number, user: number, system: number): string =>
      `${((user + system) / 1000 / ms).toFixed(2)} cores`;
    sayTime(`floor, round ${round}, ${cores(floorMs, floorCpu.user, floorCpu.system)}`, floorMs);
    sayTime(
      `ours,  round ${round}, ${cores(oursMs, bothCpu.user - floorCpu.user, bothCpu.system - floorCpu.system)}`,
      oursMs,
    );
    say(`  of which ${(readMs / 1000).toFixed(2)} s to ${paths} paths`);
    expectSame(models, floor);
    best.floor = Math.min(best.floor, floorMs);
    best.ours = Math.min(best.ours, oursMs);
  }
  say(
    `best of ${ROUNDS}: floor ${(best.floor / 1000).toFixed(2)} s, ours ${(best.ours / 1000).toFixed(2)} s, ` +
      `${(best.floor / best.ours).toFixed(2)}×; same figures to 9 digits`,
  );
  if (best.ours > best.floor) process.exitCode = 1;
} finally {
  await Promise.all([pool.close(), ...readers.map((reader) => reader.terminate())]);
  rmSync(folder, { recursive: true });
}

async function startReader(): Promise<Worker> {
  const worker = new Worker(new URL('./path-columns.ts', import.meta.url), { workerData: READER, execArgv: [] });
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  return worker;
}

function read(reader: Worker, part: FilePart): Promise<PartRead> {
  return new Promise((resolve, reject) => {
    reader.once('message', resolve).once('error', reject);
    reader.postMessage(part, []);
  });
}

async function ours(): Promise<{ models: FourModels; readMs: number; paths: number }> {
  const began = performance.now();
  const room = roomFor(size);
  const middle = Math.floor(size / 2);
  const [ahead, behind] = await Promise.all([
    read(readers[0]!, { file, from: 0, to: middle, room, side: 'ahead' }),
    read(readers[1]!, { file, from: middle, to: size, room, side: 'behind' }),
  ]);
  const paths = joined(room, ahead, behind);
  const readMs = performance.now() - began;
  const input = { paths, seed: 1, order: 1 };
  const [markov, dominance, rwa, shapley] = await Promise.all([
    pool.run('markov', input),
    pool.run('dominance', input),
    pool.run('rwa', input),
    pool.run('shapley', input),
  ]);
  const models = Object.fromEntries(
    Object.entries({ markov, shapley, dominance, rwa }).map(([name, outcome]) => {
      if (!outcome.ok) throw new Error(`${name}: ${outcome.message}`);
      return [name, Object.fromEntries(outcome.channels.map((channel, c) => [channel, outcome.value[c]!]))];
    }),
  ) as unknown as FourModels;
  return { models, readMs, paths: paths.conversions.length };
}

function expectSame(actual: FourModels, expected: FourModels): void {
  for (const model of Object.keys(expected) as (keyof FourModels)[]) {
    for (const [channel, value] of Object.entries(expected[model])) {
      if (!(Math.abs(actual[model][channel]! - value) <= 1e-9 * Math.abs(value) + 1e-6))
        throw new Error(`${model} gives ${channel} ${actual[model][channel]}, the floor ${value}`);
    }
  }
}
