import { TRAITS, type Simulator } from './simulators/simulator.ts';
import type { ShopRecord } from './shop-record.ts';
import { deltaRCoverage, failureRows, meaningRows } from './credit-tests-page.ts';
import { statusRows, testRows } from './identification-page.ts';
import { barsOn, betterThan, verdictOn, type Contender, type Verdict } from './verdict.ts';

/** A simulator with what every method said of its shops. */
export interface Judged {
  readonly simulator: Simulator;
  readonly shops: readonly ShopRecord[];
}

const CONTENDERS: readonly (readonly [Contender, string])[] = [
  ['causal', '**causal**'],
  ['shapley', 'Shapley'],
  ['markov_1', 'Markov'],
  ['linear', 'linear'],
  ['last_click', 'last click'],
  ['by_spend', 'every channel earns what it costs'],
  ['nothing', 'no channel earns anything'],
];
const RIVALS: readonly (readonly [Contender, string])[] = [
  ['last_click', 'last click'],
  ['markov_1', 'Markov'],
  ['shapley', 'Shapley'],
  ['by_spend', 'by spend'],
];

const percent = (value: number | null): string => (value === null ? '–' : `${(100 * value).toFixed(0)} %`);
const signed = (value: number | null): string => (value !== null && value > 0 ? `+${percent(value)}` : percent(value));
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

/** Names of simulators that a choice was made by a look at. */
export interface LookedAt {
  /** for what the model credits: no headline counts them */
  readonly credit: ReadonlySet<string>;
  /** for how wide its intervals are */
  readonly intervals: ReadonlySet<string>;
  /** for whether credit leans on spend, and for the limits of the tests of identification */
  readonly spendAndTests: ReadonlySet<string>;
}

/** The page on shops by other authors. */
export function judgedPage(all: readonly Judged[], lookedAt: LookedAt, people: number): string {
  const byError = all.toSorted((a, b) => misplaced(b) - misplaced(a));
  const unseen = byError.filter(({ simulator }) => !lookedAt.credit.has(simulator.name));
  const seen = byError.filter(({ simulator }) => lookedAt.credit.has(simulator.name));
  const shops = unseen.flatMap((judged) => judged.shops);
  const verdict = verdictOn(shops, 'causal');
  const names = unseen.map(({ simulator }) => simulator.name);
  const isBeaten = (betterThan(shops, 'causal', 'by_spend') ?? 1) < 0.5;
  const rival = isBeaten ? 'Splitting by what the channels\ncost divides better in most shops. ' : '';
  return `# The models on shops by other authors

[The report](README.md) judges every model on worlds of the generator that the causal model was tuned on. A shop of
yours is a mechanism that nobody here wrote. So this page judges them on simulators of other mechanisms, whose authors
knew the file formats and not the estimator: ${unseen.length} simulators, ${shops.length} shops of
${people.toLocaleString('en-US')} people.
\`npm run bench truth/judge -- --write\` makes it anew; the same code gives the same page.

**The causal model is much less accurate here than on its own generator.** It puts credit for
${percent(verdict.misplaced)} of revenue in the wrong place, its shares are off by ${percent(verdict.shareError)}, its
total by ${percent(verdict.totalError)}; its 95 % intervals hold the truth for ${percent(verdict.coverage)} of the
channels, and where nothing works it claims ${percent(verdict.claimedOfNothing)} of revenue. ${rival}Trust an
experiment before any figure of a model, and give the model your experiments:
[they calibrate it](../concepts/experiments.md).

## The causal model, worst simulator first

${table(HEAD, [
  ...unseen.map((judged) => row(nameOf(judged, lookedAt), verdictOn(judged.shops, 'causal'))),
  row('**all of these**', verdict),
  ...seen.map((judged) => row(`${nameOf(judged, lookedAt)} (tuned on)`, verdictOn(judged.shops, 'causal'))),
])}

*Misplaced*: Σ |credit − truth| over the paid channels with touches, as a part of revenue. *Shares*: the part of the
credit that stands at the wrong channel. *Total*: how far the sum of the credits is off the sum of the truths, without
and with its sign; both where marketing earns more than 2 % of revenue. *Of nothing*: claimed where no channel works.
*Alarms*: channels that do nothing, whose interval excludes 0. *Covered*: truths inside the 95 % interval. *Score*: mean
interval score (Gneiting and Raftery 2007) as a part of revenue; smaller is better.

† How wide the intervals are was chosen by a look at these
([decision 38](../decisions/038-what-nobody-knows-of-a-shop.md)); at the others nobody had looked. What the rows are
credited with was chosen on none but the one that is called *tuned on*. That credit leans on spend was decided by a
look at all of them but those with ‡, by how much is taken from elsewhere
([decision 39](../decisions/039-credit-leans-on-spend.md), which also says what is left of it where spends are dealt
anew at random).

‡ Nothing was chosen by a look at these: they were written afterwards, by an author who drew what channels cost apart
from what they bring.

## Against the others

${table(
  ['all shops above', 'misplaced', 'shares', 'total', 'bias', 'of nothing'],
  CONTENDERS.map(([contender, name]) => {
    const { misplaced: wrong, shareError, totalError, totalBias, claimedOfNothing } = verdictOn(shops, contender);
    return [
      name,
      percent(wrong),
      percent(shareError),
      percent(totalError),
      signed(totalBias),
      percent(claimedOfNothing),
    ];
  }),
)}

The last two rows look at no touch at all: a model that does not beat them has told the shop nothing new.

${table(
  ['causal divides better than …', ...unseen.map(({ simulator }) => simulator.name)],
  RIVALS.map(([rival, name]) => [name, ...unseen.map((judged) => percent(betterThan(judged.shops, 'causal', rival)))]),
)}

## What is known of each channel

The analysis says per channel whether its effect is known as a point, in part, or not at all
([how](../concepts/causal.md#what-the-rows-cant-tell)). Channels by status, and how often intervals of that status hold
the truth:

${table(['', ...unseen.map(({ simulator }) => simulator.name), 'covered'], statusRows(shops, names))}

How often each test finds what the author of a simulator planted, and how often it cries where nothing of the kind was
planted. Where it cries, an interval is wider than it need be; what it misses is a \`point\` that is none. The limits of
the tests were set by a look at all of these but those with ‡.

${table(['found / cried', ...names], testRows(shops, names))}

## What the figures were tested for

Each analysis is [tested on its own data](../concepts/causal.md#what-the-figures-are-tested-for). How often each test
fails, of those that could be made; where a simulator's author says of what it should find, first there and then
elsewhere. No constant of a test was chosen by a look at these.

${table(['fails', ...names], failureRows(shops, names))}

What a failed test says: mean |credit − truth| as a part of revenue, and how often the interval holds the truth. Of a
held-out placebo, which concerns all paid channels, both are means over those of the shop.

${table(['', 'made', 'failed', 'error where failed', 'held', 'error where passed', 'held'], meaningRows(shops))}

The 95 % interval of Delta_R holds what Delta_R would be by the truth in ${percent(deltaRCoverage(shops))} of the shops.

## By what a channel is, and what a shop has

Percent of revenue, means over channels: what they brought, and what the causal model answers.

${traitTable(shops)}

## Bars

${table(
  ['', 'measured', 'wanted', ''],
  barsOn(
    unseen,
    unseen.filter(({ simulator }) => !lookedAt.intervals.has(simulator.name)),
  ).map(({ name, measured, wanted, met }) => [name, measured, wanted, met ? 'met' : '**missed**']),
)}

## The simulators

${[...unseen, ...seen].map(({ simulator }) => `- **${simulator.name}**: ${simulator.mechanism}`).join('\n')}
`;
}

function nameOf({ simulator: { name } }: Judged, { intervals, spendAndTests }: LookedAt): string {
  const marks = `${intervals.has(name) ? ' †' : ''}${spendAndTests.has(name) ? '' : ' ‡'}`;
  return `[${name}](../../bench/truth/simulators/${name}/README.md)${marks}`;
}

const HEAD = ['simulator', 'shops', 'misplaced', 'shares', 'total', 'bias', 'of nothing', 'alarms', 'covered', 'score'];

function row(name: string, verdict: Verdict): string[] {
  const { shops, misplaced: wrong, shareError, totalError, totalBias, claimedOfNothing } = verdict;
  const { falseAlarms, coverage, intervalScore } = verdict;
  const cells = [
    percent(wrong),
    percent(shareError),
    percent(totalError),
    signed(totalBias),
    percent(claimedOfNothing),
  ];
  return [name, String(shops), ...cells, percent(falseAlarms), percent(coverage), intervalScore?.toFixed(2) ?? '–'];
}

const misplaced = ({ shops }: Judged): number => verdictOn(shops, 'causal').misplaced;

function traitTable(shops: readonly ShopRecord[]): string {
  const rows = TRAITS.flatMap((trait) => {
    const ofChannels = figuresOf(shops, (shop, c) => shop.channels[c]!.traits.includes(trait));
    const ofShops = figuresOf(shops, (shop) => shop.traits.includes(trait));
    return [
      ...(ofChannels === null ? [] : [[`channels: ${trait}`, ...ofChannels]]),
      ...(ofShops === null ? [] : [[`shops: ${trait}`, ...ofShops]]),
    ];
  });
  return table(['', 'channels', 'brought', 'answered', 'covered'], rows);
}

function figuresOf(shops: readonly ShopRecord[], counts: (shop: ShopRecord, c: number) => boolean): string[] | null {
  const found = shops.flatMap((shop) =>
    shop.channels.flatMap(({ truth }, c) => {
      const { credit, low, high } = shop.estimates.causal;
      return counts(shop, c)
        ? [
            {
              truth: truth / shop.revenue,
              credit: credit[c]! / shop.revenue,
              covered: low![c]! <= truth && truth <= high![c]!,
            },
          ]
        : [];
    }),
  );
  if (found.length === 0) return null;
  const mean = (of: (one: (typeof found)[number]) => number): number =>
    found.reduce((sum, one) => sum + of(one), 0) / found.length;
  return [
    String(found.length),
    (100 * mean(({ truth }) => truth)).toFixed(1),
    (100 * mean(({ credit }) => credit)).toFixed(1),
    percent(mean(({ covered }) => Number(covered))),
  ];
}
