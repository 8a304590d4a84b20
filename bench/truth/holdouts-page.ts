import type { HoldoutRecord } from './holdout-record.ts';

/** Marketing that brings less of the revenue than this has no relative error worth its name. */
const LEAST_PART = 0.02;
const WITHIN = 0.1;
/** Of a normal error, this many deviations hold three quarters. */
const THREE_QUARTERS = 1.1503;
const BAR = 0.75;

/** What holdouts did on some shops; parts of one, but for counts of people. */
export interface HoldoutOutcome {
  readonly shops: number;
  /** mean |credited − true| / true, without the test and with it */
  readonly errorBefore: number;
  readonly errorAfter: number;
  /** shops whose total is within a tenth */
  readonly withinBefore: number;
  readonly withinAfter: number;
  /** of the measured effect itself, before anything is made of it */
  readonly withinMeasured: number;
  /** expected by the promised standard errors alone */
  readonly withinPromised: number;
  /** median of the promised standard error / the true effect */
  readonly promisedError: number;
  /** root mean square of (measured − true) / promised: 1 where the promise holds */
  readonly spread: number;
  /** people at which three shops of four would be within a tenth, by the promise alone */
  readonly peopleNeeded: number;
}

/** Of the shops where marketing brings something. */
export function outcomeOf(records: readonly HoldoutRecord[], people = 60_000): HoldoutOutcome {
  const shops = records.filter(earns);
  const before = shops.map(({ before, truth }) => Math.abs(before - truth) / truth);
  const after = shops.map(({ after, truthTested }) => Math.abs(after - truthTested) / truthTested);
  const relative = shops.map(({ promisedError, trueEffect }) => promisedError / Math.abs(trueEffect));
  const isWithin = (error: number): number => (error <= WITHIN ? 1 : 0);
  const needed = relative.map((error) => people * ((THREE_QUARTERS * error) / WITHIN) ** 2).toSorted((a, b) => a - b);
  return {
    shops: shops.length,
    errorBefore: mean(before),
    errorAfter: mean(after),
    withinBefore: mean(before.map(isWithin)),
    withinAfter: mean(after.map(isWithin)),
    withinMeasured: mean(
      shops.map(({ measured, trueEffect }) => isWithin(Math.abs(measured - trueEffect) / Math.abs(trueEffect))),
    ),
    withinPromised: mean(relative.map((error) => withinProbability(WITHIN / error))),
    promisedError: median(relative),
    spread: Math.sqrt(
      mean(shops.map(({ measured, trueEffect, promisedError }) => ((measured - trueEffect) / promisedError) ** 2)),
    ),
    peopleNeeded: needed[Math.ceil(BAR * needed.length) - 1] ?? Number.NaN,
  };
}

const earns = ({ truth, revenue }: HoldoutRecord): boolean => truth > LEAST_PART * revenue;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values: readonly number[]): number => {
  const ordered = values.toSorted((a, b) => a - b);
  const middle = (ordered.length - 1) / 2;
  return (ordered[Math.floor(middle)]! + ordered[Math.ceil(middle)]!) / 2;
};

/** P(|Z| ≤ z) of a standard normal Z, to 1e-7 (Abramowitz & Stegun 7.1.26). */
function withinProbability(z: number): number {
  const x = z / Math.SQRT2;
  const t = 1 / (1 + 0.327_591_1 * x);
  const polynomial =
    t * (0.254_829_592 + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
  return 1 - polynomial * Math.exp(-x * x);
}

const percent = (value: number): string => (Number.isFinite(value) ? `${(100 * value).toFixed(0)} %` : '–');

/** One line. */
export const shown = ({ shops, errorBefore, errorAfter, withinBefore, withinAfter, ...rest }: HoldoutOutcome): string =>
  `${shops} shops, error ${percent(errorBefore)} → ${percent(errorAfter)}, within a tenth ${percent(withinBefore)} → ` +
  `${percent(withinAfter)} (measured ${percent(rest.withinMeasured)}, promised ${percent(rest.withinPromised)}), ` +
  `promised error ${percent(rest.promisedError)}, spread ${rest.spread.toFixed(2)}`;

/** The page on what a suggested holdout is worth. */
export function holdoutsPage(records: readonly HoldoutRecord[], people: number): string {
  const names = [...new Set(records.map(({ simulator }) => simulator))];
  const rows = names
    .map((name) => ({
      name,
      outcome: outcomeOf(
        records.filter(({ simulator }) => simulator === name),
        people,
      ),
    }))
    .toSorted((a, b) => a.outcome.withinAfter - b.outcome.withinAfter);
  const all = outcomeOf(records, people);
  const idle = records.filter((record) => !earns(record));
  const claimed = (of: 'before' | 'after'): string =>
    percent(mean(idle.map((record) => Math.abs(record[of]) / record.revenue)));
  const reached = records.filter(({ hasUntracked }) => !hasUntracked);
  const tracked = outcomeOf(reached, people);
  return `# Does one suggested holdout settle what marketing brings?

[The suggested experiments](../concepts/experiments.md#which-experiment-to-run) end with a holdout of all channels
together, which is there for the total. Here it is run: on ${records.length} simulated shops by authors who had not read
the estimator, of ${people.toLocaleString('en-US')} people each. The shop is analysed, the holdout that the analysis
suggests is run in its last days on people drawn at random, the result recorded, and the shop, with the test in its
rows, analysed again. Worst simulator first; shops where marketing brings more than ${percent(LEAST_PART)} of the
revenue.

${table([...rows, { name: '**all**', outcome: all }, { name: 'all spend with touches', outcome: tracked }])}

**${verdict(all)}**

${sizeOf(all)}

- *Theory* is the chance that a normal error of the promised size stays within a tenth, without what the analysis knows
  beside it, and without what a test misses. *Measured / promised* is the root mean square of what the test was off by,
  in promised standard errors: 1 is right.
- A test misses what its touches do after its end, and still holds what earlier touches do in its first days. The
  analysis takes its result for that of all touches, so that slow media are measured too low.
- The design holds out ${percent(median(records.map(({ share }) => share)))} of the people from everything, for
  ${median(records.map(({ days }) => days)).toFixed(0)} days (medians). It costs what marketing brings to them.
- Where marketing brings next to nothing (${idle.length} shops), ${claimed('before')} of the revenue is claimed without
  the test, and ${claimed('after')} with it.
- ${records.length - reached.length} of the shops also spend on media without touches, which no holdout of people
  reaches: what these bring counts as missed. The last row leaves these shops out.
- The promise is cautious. It needs no count of people; whoever knows how many are in each part compares means, as is
  done here.

Made by \`npm run bench truth/holdouts -- --write\`; the records are in [holdouts.json](holdouts.json).
`;
}

function table(rows: readonly { readonly name: string; readonly outcome: HoldoutOutcome }[]): string {
  const head = [
    'simulator',
    'shops',
    'error of the total: without, with',
    'within a tenth: without, with',
    'by theory',
    'standard error promised',
    'measured / promised',
  ];
  const cells = rows.map(({ name, outcome: o }) => [
    name,
    String(o.shops),
    `${percent(o.errorBefore)}, ${percent(o.errorAfter)}`,
    `${percent(o.withinBefore)}, ${percent(o.withinAfter)}`,
    percent(o.withinPromised),
    percent(o.promisedError),
    o.spread.toFixed(2),
  ]);
  return [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...cells]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}

const verdict = ({ withinBefore, withinAfter }: HoldoutOutcome): string =>
  `The bar, within a tenth in three shops of four, is ${withinAfter >= BAR ? 'met' : 'missed'}: ` +
  `${percent(withinAfter)}, and ${percent(withinBefore)} without the test.`;

/** What the size of the shops allows. */
function sizeOf({ promisedError, withinPromised, peopleNeeded }: HoldoutOutcome): string {
  const crowd = Number(peopleNeeded.toPrecision(2)).toLocaleString('en-US');
  return `The standard error that theory promises is ${percent(promisedError)} of what marketing brings (median): by it
alone, ${percent(withinPromised)} of the shops would be within a tenth. For three of four, about ${crowd} people are
needed, or orders that vary less.`;
}
