import { intervalScore, meanOf, sharesOf, totalVariation, wilson } from './accuracy.ts';
import type { Estimate, Method } from './estimate-world.ts';
import type { JudgedChannel, ShopRecord } from './shop-record.ts';

/** A method, or a rule that looks at no touch: every channel earns what it costs; no channel earns anything. */
export type Contender = Method | 'by_spend' | 'nothing';

/** A channel of this part of revenue and less does nothing: people who switch doors move figures a little. */
const NOTHING = 0.001;
/** Shares and totals are judged where marketing earns more than this part of revenue. */
const WORTH_DIVIDING = 0.02;

/** How a method did on shops. All are means over shops or channels; null where there are none to judge. */
export interface Verdict {
  readonly shops: number;
  /** Σ|credit − truth| / revenue */
  readonly misplaced: number;
  /** total variation between shares of credit and of what was earned */
  readonly shareError: number | null;
  /** |Σ credit / Σ truth − 1|, and signed */
  readonly totalError: number | null;
  readonly totalBias: number | null;
  /** Σ credit / revenue where nothing works */
  readonly claimedOfNothing: number | null;
  /** of channels that do nothing, the part whose interval excludes 0 */
  readonly falseAlarms: number | null;
  /** of channel intervals at 0.95, with its own 0.95 range */
  readonly coverage: number | null;
  readonly coverageRange: readonly [low: number, high: number] | null;
  /** mean interval score / revenue, of what can be measured */
  readonly intervalScore: number | null;
  /** parts of the channels whose effect is said to be a point, and not measurable; coverage of the former */
  readonly pointPart: number | null;
  readonly nonePart: number | null;
  readonly pointCoverage: number | null;
}

/** What the channels of a shop really brought. */
const truthOf = ({ channels }: ShopRecord): number[] => channels.map(({ truth }) => truth);
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const isWorthDividing = (shop: ShopRecord): boolean => sumOf(truthOf(shop)) > WORTH_DIVIDING * shop.revenue;
const doesNothing = (shop: ShopRecord, { truth }: JudgedChannel): boolean => Math.abs(truth) <= NOTHING * shop.revenue;
/** Whether no channel of the shop works, those without touches included. */
export const nothingWorks = ({ traits }: ShopRecord): boolean => traits.includes('nothing_works');
const meanOrNull = (values: readonly number[]): number | null => (values.length === 0 ? null : meanOf(values));

/** What a contender says of a shop. */
function answerOf({ estimates, channels }: ShopRecord, contender: Contender): Estimate {
  if (contender === 'by_spend') return { credit: channels.map(({ spend }) => spend) };
  return contender === 'nothing' ? { credit: channels.map(() => 0) } : estimates[contender];
}

const shareErrorBy = (shop: ShopRecord, contender: Contender): number =>
  totalVariation(sharesOf(answerOf(shop, contender).credit), sharesOf(truthOf(shop)));

/** Of shops in which shares are judged, the part in which `one` divides better than `other`. */
export function betterThan(shops: readonly ShopRecord[], one: Contender, other: Contender): number | null {
  const judged = shops.filter(isWorthDividing);
  return meanOrNull(judged.map((shop) => Number(shareErrorBy(shop, one) < shareErrorBy(shop, other))));
}

export function verdictOn(shops: readonly ShopRecord[], contender: Contender): Verdict {
  const divided = shops.filter(isWorthDividing);
  const claims = (shop: ShopRecord): number => sumOf(answerOf(shop, contender).credit);
  const biases = divided.map((shop) => claims(shop) / sumOf(truthOf(shop)) - 1);
  const intervals = shops.flatMap((shop) => {
    const { low, high, identification } = answerOf(shop, contender);
    return low === undefined || high === undefined
      ? []
      : shop.channels.map((channel, c) => ({
          truth: channel.truth,
          isNothing: doesNothing(shop, channel),
          low: low[c]!,
          high: high[c]!,
          revenue: shop.revenue,
          status: identification?.[c]?.status ?? null,
        }));
  });
  const isCovered = ({ low, high, truth, status }: (typeof intervals)[number]): boolean =>
    status !== 'none' && low <= truth && truth <= high;
  const covered = intervals.filter(isCovered).length;
  const points = intervals.filter(({ status }) => status === 'point');
  const partOf = (wanted: string): number | null =>
    meanOrNull(intervals.filter(({ status }) => status !== null).map(({ status }) => Number(status === wanted)));
  return {
    shops: shops.length,
    misplaced: meanOf(
      shops.map(
        (shop) =>
          sumOf(answerOf(shop, contender).credit.map((credit, c) => Math.abs(credit - truthOf(shop)[c]!))) /
          shop.revenue,
      ),
    ),
    shareError: meanOrNull(divided.map((shop) => shareErrorBy(shop, contender))),
    totalError: meanOrNull(biases.map(Math.abs)),
    totalBias: meanOrNull(biases),
    claimedOfNothing: meanOrNull(shops.filter(nothingWorks).map((shop) => claims(shop) / shop.revenue)),
    falseAlarms: meanOrNull(
      intervals.filter(({ isNothing }) => isNothing).map(({ low, high }) => Number(low > 0 || high < 0)),
    ),
    coverage: intervals.length === 0 ? null : covered / intervals.length,
    coverageRange: intervals.length === 0 ? null : wilson(covered, intervals.length),
    intervalScore: meanOrNull(
      intervals
        .filter(({ status }) => status !== 'none')
        .map(({ low, high, truth, revenue }) => intervalScore(low, high, truth) / revenue),
    ),
    pointPart: partOf('point'),
    nonePart: partOf('none'),
    pointCoverage: meanOrNull(points.map((each) => Number(isCovered(each)))),
  };
}

/** A line that the causal model must not cross on simulators that it was not tuned on. */
export interface JudgedBar {
  readonly name: string;
  readonly measured: string;
  readonly wanted: string;
  readonly met: boolean;
}

interface ShopsOfOne {
  readonly shops: readonly ShopRecord[];
}

/**
 * The bars over simulators; each has the shops of one. Means over simulators, so that none counts for more.
 * @param unlooked those by which no width of an interval was chosen
 */
export function barsOn(judged: readonly ShopsOfOne[], unlooked: readonly ShopsOfOne[]): JudgedBar[] {
  const known = (of: (verdict: Verdict) => number | null, among = judged): number[] =>
    among.map(({ shops }) => of(verdictOn(shops, 'causal'))).filter((value): value is number => value !== null);
  const atMost = (name: string, value: number, limit: number): JudgedBar => ({
    name,
    measured: value.toFixed(2),
    wanted: `≤ ${limit.toFixed(2)}`,
    met: value <= limit,
  });
  const atLeast = (name: string, value: number, limit: number): JudgedBar => ({
    name,
    measured: value.toFixed(2),
    wanted: `≥ ${limit.toFixed(2)}`,
    met: value >= limit,
  });
  const all = judged.flatMap(({ shops }) => shops);
  return [
    atMost('misplaced credit / revenue', meanOf(known(({ misplaced }) => misplaced)), 0.16),
    atMost('share error', meanOf(known(({ shareError }) => shareError)), 0.22),
    ...(['last_click', 'markov_1', 'shapley', 'by_spend'] as const).map((rival) =>
      atLeast(`divides better than ${rival}, part of the shops`, betterThan(all, 'causal', rival) ?? 0, 0.75),
    ),
    atMost('error of the total, mean', meanOf(known(({ totalError }) => totalError)), 0.2),
    atMost('error of the total, worst simulator', Math.max(...known(({ totalError }) => totalError)), 0.35),
    atLeast(
      '95 % intervals cover, worst simulator that was not looked at',
      Math.min(...known(({ coverage }) => coverage, unlooked)),
      0.88,
    ),
    atLeast('95 % intervals cover, mean', meanOf(known(({ coverage }) => coverage)), 0.9),
    atMost('idle channels called significant', meanOf(known(({ falseAlarms }) => falseAlarms)), 0.1),
    atLeast('channels identified as a point', verdictOn(all, 'causal').pointPart ?? 0, 0.5),
    atMost('channels not measurable', verdictOn(all, 'causal').nonePart ?? 0, 0.15),
    atLeast(
      '95 % intervals of points cover, worst simulator that was not looked at',
      Math.min(...known(({ pointCoverage }) => pointCoverage, unlooked)),
      0.92,
    ),
    atMost('claimed where nothing works, worst simulator', Math.max(...known((each) => each.claimedOfNothing)), 0.1),
  ];
}
