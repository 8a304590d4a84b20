import { meanOf } from './accuracy.ts';
import { METHODS } from './estimate-world.ts';
import { failuresOf } from './failures.ts';
import { METHOD_NAMES } from './method-names.ts';
import { SIZE_COLUMNS, sizeFindings, sizeRows, summaryOfSize, worldsBySize } from './sizes.ts';
import {
  barsOf,
  claimedTotal,
  errorsOf,
  INTERVAL_METHODS,
  intervalsOf,
  LARGE,
  shareErrorOf,
  totalErrorOf,
  works,
} from './summary.ts';
import { foundOfSentences } from './sentences-page.ts';
import type { ShopRecord } from './shop-record.ts';
import type { WorldRecord } from './world-record.ts';
import { REPORT_USERS } from './worlds.ts';

const percent = (value: number | null, digits = 1): string =>
  value === null ? '–' : `${(100 * value).toFixed(digits)} %`;
const decimal = (value: number): string => value.toFixed(3);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

const INTRODUCTION = `**These worlds are of the generator that the causal model was tuned on.** In [shops by other
authors](judged.md) it is much less accurate: read that first. [What one holdout makes of that](holdouts.md).

Real data never shows what a channel caused, so no model can be checked on it. Simulated
shoppers can: a world is a population whose effects are written down, and its truth is found by simulating the same
people again, with the same random numbers, with a channel switched off. This report runs every model on such worlds
through the code that serves \`POST /v1/attribution\`, and says how far off it is.

\`npm run bench truth/report\` makes it anew, figures and pictures included; the same code gives the same report.

**A world.** Each user has a lasting propensity to buy and falls, now and then, into a spell of interest that rises
and decays. Both bring orders and unpaid visits (direct, organic) without any advertising. *Selection*: paid touches
follow interest too, each channel in its own measure; search nearly always, retargeting after every visit, e-mail
among customers, display hardly. A paid touch sets off further orders, at delays that decay with the channel's
half-life, fewer of them while earlier touches still work; in some worlds only after another channel. An order dampens
the wish for the next one, so that part of what advertising brings is only brought forward. Many orders carry the
click by which they came; it causes nothing.

**Truth.** A channel's true revenue is what the world loses in the window when that channel alone is switched off, all
others on; true shares are these losses, normalised.
The true total is what the world loses with all paid channels off.

**Families.**
\`plain\`: moderate selection.
\`strong selection\`: few people are in the market, and advertising finds them.
\`halo\`: awareness channels also bring unpaid visits, which spoils those as placebos.
\`order effects\`: channels that work mainly after others.
\`long stock\`, \`short stock\`: effects that last for weeks, or hours.
\`announced orders\`: people come to the site unpaid in the days before they order, caused orders included.
\`placebo ideal\`: one interest drives demand, visits and advertising alike, as PRAV assumes.
\`reference style\`: the proportions of the sample of events in \`test/compute/fixtures\`.
\`nothing works\`: no channel has any effect.
The ranges that worlds are drawn from were settled on other seeds, and the seeds of this report drawn afterwards; no
model was tuned on these worlds (\`bench/truth/worlds.ts\` keeps others for that).`;

const LIMITS = `## What these worlds leave out

People who are two users to the shop, touches that nobody recorded, discounts, competitors, word of mouth between
users, and effects beyond the end of the window. Real data has all of them, and a model that does well here can
still fail on it: an experiment remains the better evidence.`;

const CUSTOMERS = REPORT_USERS.toLocaleString('en');
const SIZE = `Each of these worlds has ${CUSTOMERS} customers, as many as in the trials that the bars come from
([decision 28](../decisions/028-worlds-of-the-bars-size.md)).
Until that decision this report had 42 worlds of 40,000 to 150,000, and an error of the total of 10.6 %;
on the first 84 of these worlds it was 10.1 % ([decision 31](../decisions/031-what-error-could-make.md)).
The smaller sizes now have [a section of their own](#how-many-customers-does-it-need).

Intervals allow for what nobody knows of a shop ([decision 38](../decisions/038-what-nobody-knows-of-a-shop.md)). In
these worlds the model knows it, so that the intervals cover more than they say and see less.`;

/**
 * The whole page, in Markdown: `records` are the worlds that the bars are measured on, `smaller` some of them with
 * fewer customers; `shops` those of other authors, of which it says how often a sentence of the report is false.
 */
export function reportPage(
  records: readonly WorldRecord[],
  smaller: readonly WorldRecord[],
  shops: readonly ShopRecord[] = [],
): string {
  const working = records.filter(works);
  const idle = records.filter((record) => !works(record));
  const bars = barsOf(records);
  const unmet = bars.filter((bar) => !bar.met).length;
  const verdict = unmet === 0 ? 'meets all bars' : `misses ${unmet} of ${bars.length} bars`;
  const events = records.reduce((sum, record) => sum + record.events, 0);
  return [
    '# How close each model comes to the truth',
    INTRODUCTION,
    ...(shops.length === 0
      ? []
      : [`## What the report says\n\n${foundOfSentences(shops)} [Every sentence](sentences.md).`]),
    `## The bars\n\n${records.length} worlds, ${working.length} of them with channels that work, ` +
      `${events.toLocaleString('en')} events. The causal model ${verdict}.`,
    SIZE,
    table(
      ['causal model', 'measured', 'wanted', ''],
      bars.map(({ name, measured, wanted, met }) => [name, percent(measured), wanted, met ? 'met' : '**missed**']),
    ),
    ...sizeSection(records, smaller),
    `## Every model\n\nShare error is the part of the credit that stands at the wrong channel (total variation over ` +
      `the paid channels, 0 to 1). The error of the total is that of all paid channels’ revenue together, ` +
      `relative to the truth: mean of absolute errors, and signed mean.`,
    '![Share error of each model](share-error.svg)',
    modelTable(working),
    `## By kind of world`,
    '![Share error by family](families.svg)',
    familyTable(working),
    `## Intervals\n\nPublished at 0.95, over every paid channel of every world where something works. The interval ` +
      `score (Gneiting and Raftery 2007) is the width plus 40 times the distance by which an interval misses; ` +
      `width and score are parts of the world’s revenue. Power: channels that earn at least ${percent(LARGE, 0)} ` +
      `of the incremental total and whose interval excludes 0.`,
    '![Intervals against the truth](intervals.svg)',
    intervalTable(working),
    `Coverage, power and false positives of the causal model by kind of world:`,
    coverageTable(records),
    `## Where nothing works\n\nWhat each model claims in worlds without any effect, as a part of revenue, and the ` +
      `recovered revenue (Delta_R) that the causal model reports there.`,
    idleTable(idle),
    `## Where it fails`,
    failuresOf(records),
    LIMITS,
    `## All worlds`,
    worldTable(records),
  ]
    .join('\n\n')
    .concat('\n');
}

function sizeSection(records: readonly WorldRecord[], smaller: readonly WorldRecord[]): string[] {
  if (smaller.length === 0) return [];
  const sizes = worldsBySize(records, smaller).map(summaryOfSize);
  return [
    `## How many customers does it need?\n\nThe causal model on the first ${sizes[0]!.worlds} working worlds, and ` +
      `those without effects that go with them, with ever more customers: a smaller world is the first customers ` +
      `of the larger one, under the same effects. They are some of the bars’ worlds, so that the last row is not ` +
      `the verdict above. Customers are all who were seen, buyers or not. A mean has its standard error behind it.`,
    '![Error of the total and share error by number of customers](sizes.svg)',
    table(SIZE_COLUMNS, sizeRows(sizes)),
    sizeFindings(sizes),
  ];
}

function modelTable(worlds: readonly WorldRecord[]): string {
  const ordered = METHODS.map((method) => ({ method, errors: errorsOf(worlds, method) })).toSorted(
    (a, b) => a.errors.shareError - b.errors.shareError,
  );
  return table(
    ['model', 'share error, mean ± sd', 'median', 'error of the total', 'signed'],
    ordered.map(({ method, errors }) => [
      METHOD_NAMES[method],
      `${decimal(errors.shareError)} ± ${decimal(errors.shareErrorSd)}`,
      decimal(errors.shareErrorMedian),
      percent(errors.totalError, 0),
      percent(errors.totalBias, 0),
    ]),
  );
}

/** Worlds by family, in the order in which they come. */
export const byFamily = (worlds: readonly WorldRecord[]): ReadonlyMap<string, readonly WorldRecord[]> =>
  Map.groupBy(worlds, ({ family }) => family);

function familyTable(worlds: readonly WorldRecord[]): string {
  const compared = ['last_click', 'markov_1', 'shapley', 'prav', 'causal'] as const;
  const rows = [...byFamily(worlds)].map(([family, some]) => [
    family.replaceAll('_', ' '),
    String(some.length),
    ...compared.map((method) => decimal(errorsOf(some, method).shareError)),
    percent(errorsOf(some, 'causal').totalError),
    percent(errorsOf(some, 'causal').totalBias),
  ]);
  return table(
    ['share error', 'worlds', ...compared.map((method) => METHOD_NAMES[method]), 'causal: total', 'signed'],
    rows,
  );
}

function intervalTable(worlds: readonly WorldRecord[]): string {
  const rows = INTERVAL_METHODS.map((method) => {
    const { coverage, coverageRange, channelWorlds, width, score, power, large, falsePositives, nulls } = intervalsOf(
      worlds,
      method,
    );
    return [
      METHOD_NAMES[method],
      `${percent(coverage)} (${percent(coverageRange[0], 0)} – ${percent(coverageRange[1], 0)})`,
      String(channelWorlds),
      percent(width),
      percent(score),
      `${percent(power)} of ${large}`,
      `${percent(falsePositives)} of ${nulls}`,
    ];
  });
  return table(
    [
      'model',
      'coverage (Wilson interval)',
      'intervals',
      'mean width',
      'interval score',
      'power',
      'called significant without effect',
    ],
    rows,
  );
}

function coverageTable(records: readonly WorldRecord[]): string {
  const rows = [...byFamily(records)].map(([family, some]) => {
    const { coverage, channelWorlds, width, power, large, falsePositives, nulls } = intervalsOf(some, 'causal');
    return [
      family.replaceAll('_', ' '),
      percent(coverage),
      String(channelWorlds),
      percent(width),
      large === 0 ? '–' : `${percent(power)} of ${large}`,
      nulls === 0 ? '–' : `${percent(falsePositives)} of ${nulls}`,
    ];
  });
  return table(['family', 'coverage', 'intervals', 'mean width', 'power', 'significant without effect'], rows);
}

function idleTable(worlds: readonly WorldRecord[]): string {
  const compared = ['last_click', 'markov_1', 'shapley', 'prav', 'causal'] as const;
  const row = (name: string, some: readonly WorldRecord[]): string[] => [
    name,
    ...compared.map((method) => percent(meanOf(some.map((world) => claimedTotal(world, method) / world.revenue)))),
    percent(meanOf(some.map((world) => world.deltaR / world.revenue))),
  ];
  return table(
    ['claimed', ...compared.map((method) => METHOD_NAMES[method]), 'Delta_R'],
    [...worlds.map((world) => row(world.name, [world])), row('**mean**', worlds)],
  );
}

function worldTable(records: readonly WorldRecord[]): string {
  const rows = records.map((world) => {
    const { covered, channelWorlds } = intervalsOf([world], 'causal');
    const error = (method: 'last_click' | 'markov_1' | 'causal'): string =>
      works(world) ? decimal(shareErrorOf(world, method)) : '–';
    return [
      world.name,
      world.users.toLocaleString('en'),
      String(world.days),
      world.events.toLocaleString('en'),
      world.conversions.toLocaleString('en'),
      percent(world.truthTotal / world.revenue, 0),
      error('last_click'),
      error('markov_1'),
      error('causal'),
      works(world) ? percent(totalErrorOf(world, 'causal'), 0) : '–',
      `${covered} of ${channelWorlds}`,
    ];
  });
  return table(
    [
      'world',
      'users',
      'days',
      'events',
      'orders',
      'incremental',
      'last click',
      'Markov 1',
      'causal',
      'its total',
      'covered',
    ],
    rows,
  );
}
