/**
 * Every method on shops by authors who had not read them: `npm run bench truth/judge -- [--people 60000] [simulator or
 * shop …]`. Prints a verdict for each simulator; `--write` makes docs/truth/judged.md and judged.json anew, `--page`
 * the former from the latter, without judging anything.
 * `--shuffled-spend` deals each shop's spends anew among its channels: what is left of a gain that spend brings.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ShopOrder } from './judge-process.ts';
import type { ShopRecord } from './shop-record.ts';
import { sideBySide } from './side-by-side.ts';
import { SIMULATORS } from './simulators/registry.ts';
import { judgedPage, type LookedAt } from './judged-page.ts';
import { verdictOn, type Contender } from './verdict.ts';

const PEOPLE = 60_000;
/**
 * Decisions 6, 25, 26, 28 and 31 chose what is credited, decision 38 how wide the intervals are, decisions 39 and 41
 * that credit leans on spend and where tests of identification speak.
 */
const LOOKED_AT: LookedAt = {
  credit: new Set(['candidate-histories']),
  intervals: new Set(['consumer-states', 'discrete-choice', 'semi-synthetic']),
  spendAndTests: new Set([
    'candidate-histories',
    'consideration',
    'consumer-states',
    'discrete-choice',
    'self-exciting',
    'semi-synthetic',
  ]),
};
const SHOWN = ['causal', 'shapley', 'markov_1', 'last_click', 'by_spend'] as const satisfies readonly Contender[];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    people: { type: 'string', default: String(PEOPLE) },
    write: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    'shuffled-spend': { type: 'boolean', default: false },
  },
});
const names = SIMULATORS.flatMap(({ name, shops }) =>
  Array.from({ length: shops }, (_, n) => `${name}_${n + 1}`),
).filter(
  (name) => positionals.length === 0 || positionals.some((start) => name === start || name.startsWith(`${start}_`)),
);
const isSpendShuffled = values['shuffled-spend'];
if (values.write && isSpendShuffled) throw new Error('The page is that of the spends as they are.');
if (names.length === 0) throw new Error(`No simulator or shop is called so: ${positionals.join(', ')}.`);

const folder = join(import.meta.dirname, '../../docs/truth');
const people = Number(values.people);
const records = values.page
  ? (JSON.parse(readFileSync(join(folder, 'judged.json'), 'utf8')) as ShopRecord[])
  : await sideBySide<ShopOrder, ShopRecord>(
      new URL('./judge-process.ts', import.meta.url),
      names.map((name) => ({ name, people, isSpendShuffled })),
    );
const judged = SIMULATORS.map((simulator) => ({
  simulator,
  shops: records.filter((record) => record.simulator === simulator.name),
})).filter(({ shops }) => shops.length > 0);
for (const { simulator, shops } of judged) {
  console.log(`\n${simulator.name}: ${shops.length} shops`);
  console.log('           misplaced   shares    total     bias  nothing   alarms  covered    score');
  for (const contender of SHOWN) {
    const { misplaced, shareError, totalError, totalBias, claimedOfNothing, falseAlarms, coverage, intervalScore } =
      verdictOn(shops, contender);
    const cells = [
      misplaced,
      shareError,
      totalError,
      totalBias,
      claimedOfNothing,
      falseAlarms,
      coverage,
      intervalScore,
    ];
    console.log(`${contender.padEnd(11)} ${cells.map((cell) => (cell?.toFixed(3) ?? '–').padStart(8)).join(' ')}`);
  }
}
if (values.write || values.page) {
  writeFileSync(join(folder, 'judged.md'), judgedPage(judged, LOOKED_AT, records[0]!.people));
}
if (values.write) {
  writeFileSync(join(folder, 'judged.json'), `[\n${records.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
  console.log(`Written to ${folder}`);
}
