/**
 * Whether one suggested holdout tells what marketing brings: `npm run bench truth/holdouts -- [--people 60000]
 * [--shops 12] [simulator or shop …]`. On shops by other authors, the holdout of all channels that is suggested is run
 * and recorded, and the shop analysed again. Prints a line per simulator; `--write` makes docs/truth/holdouts.md and
 * holdouts.json anew.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { HoldoutOrder } from './holdout-process.ts';
import type { HoldoutRecord } from './holdout-record.ts';
import { holdoutsPage, outcomeOf, shown } from './holdouts-page.ts';
import { sideBySide } from './side-by-side.ts';
import { SIMULATORS } from './simulators/registry.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    people: { type: 'string', default: '60000' },
    /** Of each simulator, the first so many. */
    shops: { type: 'string', default: '12' },
    write: { type: 'boolean', default: false },
  },
});
const [people, most] = [Number(values.people), Number(values.shops)];
const names = SIMULATORS.flatMap(({ name, shops }) =>
  Array.from({ length: Math.min(shops, most) }, (_, n) => `${name}_${n + 1}`),
).filter(
  (name) => positionals.length === 0 || positionals.some((start) => name === start || name.startsWith(`${start}_`)),
);
if (names.length === 0) throw new Error(`No simulator or shop is called so: ${positionals.join(', ')}.`);

const found = await sideBySide<HoldoutOrder, HoldoutRecord | null>(
  new URL('./holdout-process.ts', import.meta.url),
  names.map((name) => ({ name, people })),
);
const records = found.filter((record) => record !== null);
for (const { name } of SIMULATORS) {
  const ofSimulator = records.filter(({ simulator }) => simulator === name);
  if (ofSimulator.length > 0) console.log(`${name}: ${shown(outcomeOf(ofSimulator))}`);
}
console.log(`all: ${shown(outcomeOf(records))}`);
if (values.write) {
  const folder = join(import.meta.dirname, '../../docs/truth');
  writeFileSync(join(folder, 'holdouts.md'), holdoutsPage(records, people));
  writeFileSync(join(folder, 'holdouts.json'), `[\n${records.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
  console.log(`Written to ${folder}`);
}
