/**
 * How often a sentence of the report is false on simulated shops: `npm run bench truth/sentences`. It judges the
 * records of docs/truth/judged.json, which `truth/judge --write` makes; `--write` makes docs/truth/sentences.md anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ShopRecord } from './shop-record.ts';
import { sentenceCounts } from './sentence-counts.ts';
import { sentencesPage, shownCount } from './sentences-page.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const folder = join(import.meta.dirname, '../../docs/truth');
const shops = JSON.parse(readFileSync(join(folder, 'judged.json'), 'utf8')) as ShopRecord[];

const counts = sentenceCounts(shops);
for (const [title, list] of [
  ['channels, causal', counts.channels],
  ['last click', counts.lastClick],
  ['totals, causal', counts.totals],
  ['channels, if PRAV alone were judged by', counts.ofPravAlone],
] as const) {
  console.log(`\n${title.padEnd(40)}    said   false   allowed 5 % of those said`);
  for (const count of list) {
    const [sentence, said, wrong, rate] = shownCount(count);
    console.log(`${sentence!.padEnd(40)} ${said!.padStart(7)} ${wrong!.padStart(7)}   ${rate}`);
  }
}
if (values.write) {
  writeFileSync(join(folder, 'sentences.md'), sentencesPage(shops));
  console.log('\nwritten: docs/truth/sentences.md');
}
