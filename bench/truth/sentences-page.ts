import type { ShopRecord } from './shop-record.ts';
import { falseRate, sentenceCounts, totalCoverage, type SentenceCount } from './sentence-counts.ts';

const WORDS: Readonly<Record<string, string>> = {
  pays: 'earns more than it costs',
  adds: 'adds revenue, no spend recorded',
  loses: 'below break-even',
  harms: 'takes revenue away',
  open: 'can’t be told',
  unmeasured: 'not measurable',
  too_much: 'last click shows too much',
  too_little: 'last click shows too little',
};
const CANNOT_BE_FALSE: ReadonlySet<string> = new Set(['open', 'unmeasured']);
const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

/** Sentence, times said, times false, and the part that was false with its range. */
export function shownCount(count: SentenceCount): readonly string[] {
  const { sentence, said, wrong, asked } = count;
  const rate = falseRate(count);
  const words = WORDS[sentence] ?? sentence;
  if (CANNOT_BE_FALSE.has(sentence)) return [words, `${said}`, '–', '–', `${asked}`];
  return [
    words,
    `${said}`,
    `${wrong}`,
    rate === null ? 'never said' : `${percent(rate.rate)} (${percent(rate.low)} to ${percent(rate.high)})`,
    `${asked}`,
  ];
}

const counted = (counts: readonly SentenceCount[], of: string): string =>
  table(['sentence', 'said', 'false', 'of those said (95 % range)', `of ${of}`], counts.map(shownCount));

/** What is found, in two sentences: how rarely a verdict is given, and how often it is false. */
export function foundOfSentences(shops: readonly ShopRecord[]): string {
  const { channels } = sentenceCounts(shops);
  const judged = channels.at(-1)!;
  const rate = falseRate(judged);
  const open = judged.asked - judged.said;
  const wrong =
    rate === null
      ? 'so none could be false.'
      : `${judged.wrong} of them false: ${percent(judged.wrong / judged.asked)} of all channels where 5 % are ` +
        `allowed, and ${percent(rate.rate)} of the verdicts given, of which so few cannot say more than ` +
        `${percent(rate.low)} to ${percent(rate.high)}.`;
  return (
    `**Mostly the report says that it can't tell whether a channel earns its cost: of ${open} of ${judged.asked} ` +
    `paid channels, in ${shops.length} shops by other authors.** A verdict was given ${judged.said} times, ${wrong}`
  );
}

/** The page docs/truth/sentences.md. */
export function sentencesPage(shops: readonly ShopRecord[]): string {
  const { channels, lastClick, totals, ofPravAlone } = sentenceCounts(shops);
  const prav = ofPravAlone.at(-1)!;
  const simulators = [...new Set(shops.map(({ simulator }) => simulator))];
  const coverage = [...simulators, null].map((simulator) => {
    const found = totalCoverage(shops.filter((shop) => simulator === null || shop.simulator === simulator));
    return [
      simulator ?? '**all**',
      `${found.shops}`,
      percent(found.held),
      percent(found.heldAllOff),
      percent(found.width),
      percent(found.heldIfIndependent),
      percent(found.widthIfIndependent),
    ];
  });
  return `# The sentences of the report, where the truth is known

The report draws every verdict from intervals and identification by [one rule](../decisions/047-what-a-report-says.md).
Here is how often they are false on the ${shops.length} shops of [judged.json](judged.json), whose truth is known.
\`npm run bench truth/sentences -- --write\` makes this page anew.

${foundOfSentences(shops)}

The 5 % are what an interval at 95 % promises of all channels: that at most 5 % of them are judged falsely. Of those
that are judged at all it promises nothing, since a channel is judged because its interval happened to lie far out.

## Channels

${counted(channels, 'channels')}

A false verdict: *earns more* where the truth is at most the spend, *below break-even* where it is at least the spend,
*takes away* where it is 0 or more.

## What is said of last click

${counted(lastClick, 'channels')}

## The total

${counted(totals, 'shops')}

Its interval goes from the sum of the lower ends to the sum of the upper ends, and never beyond the revenue. Beside it,
what it would be if the errors of channels were independent of one another: narrower, and it holds the truth less often,
since what is wrong with one channel of a shop is wrong with others.

${table(
  [
    'simulator',
    'shops',
    'held',
    'held, all off at once',
    'width / revenue',
    'held, if independent',
    'width, if independent',
  ],
  coverage,
)}

## Why PRAV by itself is not judged by

Its intervals allow for chance and for its placebos, and not for what nobody knows of a shop. Verdicts drawn from them
would be given ${prav.said} times, and false in ${percent(prav.wrong / prav.said)} of them. So the report draws
verdicts from the causal model alone, and says of other models what they credit.

${counted(ofPravAlone, 'channels')}
`;
}
