/**
 * Every model on worlds whose truth is known: `npm run bench truth/report` Simulates the report's worlds, runs the
 * models on them and rewrites docs/truth (page, pictures, results.json). Ends with code 1 when a bar is missed. With
 * names, or beginnings of names, of worlds (`truth/report tuning plain_1`) it runs those and writes nothing. Worlds
 * with fewer customers (`plain_1_of_20000`) count for no bar.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { familyFigure, intervalFigure, shareErrorFigure, sizeFigure } from './figures.ts';
import { recordWorlds } from './record-worlds.ts';
import { byFamily, reportPage } from './report-page.ts';
import type { ShopRecord } from './shop-record.ts';
import { summaryOfSize, worldsBySize } from './sizes.ts';
import { barsOf, claimedTotal, errorTable, intervalsOf, shareErrorOf, totalErrorOf, works } from './summary.ts';
import type { WorldRecord } from './world-record.ts';
import { everyWorld, reportWorlds, smallerWorlds } from './worlds.ts';

const MOST_PROCESSES = 4;
const folder = join(import.meta.dirname, '../../docs/truth');
const wanted = process.argv.slice(2);
const candidates =
  wanted.length === 0
    ? [...reportWorlds(), ...smallerWorlds()]
    : everyWorld().filter(({ name }) => wanted.some((start) => name.startsWith(start)));
const names = candidates.map(({ name }) => name);
if (names.length === 0) throw new Error('No world has such a name.');

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`.padStart(8);
const progress = (record: WorldRecord, tookMs: number, done: number): void => {
  const { covered, channelWorlds } = intervalsOf([record], 'causal');
  const figures = works(record)
    ? `share error last click ${shareErrorOf(record, 'last_click').toFixed(2)}, Markov ` +
      `${shareErrorOf(record, 'markov_1').toFixed(2)}, causal ${shareErrorOf(record, 'causal').toFixed(2)}, total ` +
      `${percent(totalErrorOf(record, 'causal'))}, covered ${covered}/${channelWorlds}`
    : `claims ${percent(claimedTotal(record, 'causal') / record.revenue)} of revenue`;
  console.log(
    `${`${done}/${names.length}`.padStart(6)} ${record.name.padEnd(28)} ${(tookMs / 1000).toFixed(1).padStart(5)} s  ` +
      `${figures}`,
  );
};

const records = await recordWorlds(names, Math.min(MOST_PROCESSES, availableParallelism()), progress);
const smallerNames = new Set(smallerWorlds().map(({ name }) => name));
const judged = records.filter(({ name }) => !smallerNames.has(name));
const smaller = records.filter(({ name }) => smallerNames.has(name));
const bars = barsOf(judged);
for (const { name, measured, wanted: limit, met } of bars)
  console.log(`${met ? 'met   ' : 'MISSED'} ${percent(measured)}  ${name}: ${limit}`);
if (wanted.length === 0) {
  const working = judged.filter(works);
  const shops = JSON.parse(readFileSync(join(folder, 'judged.json'), 'utf8')) as ShopRecord[];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'README.md'), reportPage(judged, smaller, shops));
  writeFileSync(join(folder, 'share-error.svg'), shareErrorFigure(working));
  writeFileSync(join(folder, 'families.svg'), familyFigure(byFamily(working)));
  writeFileSync(join(folder, 'intervals.svg'), intervalFigure(working));
  writeFileSync(join(folder, 'sizes.svg'), sizeFigure(worldsBySize(judged, smaller)));
  writeFileSync(join(folder, 'results.json'), resultsOf());
  console.log(`Written to ${folder}`);
  process.exitCode = bars.every(({ met }) => met) ? 0 : 1;
}

/** Summary and records, a world on a line so that a change of one is a change of one line. */
function resultsOf(): string {
  const working = judged.filter(works);
  const sizes = worldsBySize(judged, smaller).map(summaryOfSize);
  const summary = {
    bars,
    errors: errorTable(working),
    intervals: { prav: intervalsOf(working, 'prav'), causal: intervalsOf(working, 'causal') },
    sizes,
  };
  const lines = (worlds: readonly WorldRecord[]): string => worlds.map((world) => JSON.stringify(world)).join(',\n');
  return (
    `{"summary": ${JSON.stringify(summary, null, 2)},\n"worlds": [\n${lines(judged)}\n],\n"smaller": ` +
    `[\n${lines(smaller)}\n]}\n`
  );
}
