import { intervalScore, meanOf, sharesOf, totalVariation, wilson } from './accuracy.ts';
import type { Method } from './estimate-world.ts';
import type { JudgedChannel, ShopRecord } from './shop-record.ts';

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
  /** mean interval score / revenue */
  readonly intervalScore: number | null;
}

/** What the channels of a shop really brought. */
const truthOf = ({ channels }: ShopRecord): number[] => channels.map(({ truth }) => truth);
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const isWorthDividing = (shop: ShopRecord): boolean => sumOf(truthOf(shop)) > WORTH_DIVIDING * shop.revenue;
const doesNothing = (shop: ShopRecord, { truth }: JudgedChannel): boolean => Math.abs(truth) <= NOTHING * shop.revenue;
/** Whether no channel of the shop works, those without touches included. */
export const nothingWorks = ({ traits }: ShopRecord): boolean => traits.includes('nothing_works');
const meanOrNull = (values: readonly number[]): number | null => (values.length === 0 ? null : meanOf(values));

/** The shares that a method gives; those of `by_spend` follow what the channels cost. */
export function sharesBy(shop: ShopRecord, method: Method | 'by_spend'): number[] {
  return sharesOf(method === 'by_spend' ? shop.channels.map(({ spend }) => spend) : shop.estimates[method].credit);
}

export const shareErrorBy = (shop: ShopRecord, method: Method | 'by_spend'): number =>
  totalVariation(sharesBy(shop, method), sharesOf(truthOf(shop)));

/** Of shops in which shares are judged, the part in which `method` divides better than `other`. */
export function betterThan(shops: readonly ShopRecord[], method: Method, other: Method | 'by_spend'): number | null {
  const judged = shops.filter(isWorthDividing);
  return meanOrNull(judged.map((shop) => Number(shareErrorBy(shop, method) < shareErrorBy(shop, other))));
}

export function verdictOn(shops: readonly ShopRecord[], method: Method): Verdict {
  const divided = shops.filter(isWorthDividing);
  const claims = (shop: ShopRecord): number => sumOf(shop.estimates[method].credit);
  const biases = divided.map((shop) => claims(shop) / sumOf(truthOf(shop)) - 1);
  const intervals = shops.flatMap((shop) => {
    const { low, high } = shop.estimates[method];
    return low === undefined || high === undefined
      ? []
      : shop.channels.map((channel, c) => ({
          truth: channel.truth,
          isNothing: doesNothing(shop, channel),
          low: low[c]!,
          high: high[c]!,
          revenue: shop.revenue,
        }));
  });
  const covered = intervals.filter(({ low, high, truth }) => low <= truth && truth <= high).length;
  return {
    shops: shops.length,
    misplaced: meanOf(
      shops.map(
        (shop) =>
          sumOf(shop.estimates[method].credit.map((credit, c) => Math.abs(credit - truthOf(shop)[c]!))) / shop.revenue,
      ),
    ),
    shareError: meanOrNull(divided.map((shop) => shareErrorBy(shop, method))),
    totalError: meanOrNull(biases.map(Math.abs)),
    totalBias: meanOrNull(biases),
    claimedOfNothing: meanOrNull(shops.filter(nothingWorks).map((shop) => claims(shop) / shop.revenue)),
    falseAlarms: meanOrNull(
      intervals.filter(({ isNothing }) => isNothing).map(({ low, high }) => Number(low > 0 || high < 0)),
    ),
    coverage: intervals.length === 0 ? null : covered / intervals.length,
    coverageRange: intervals.length === 0 ? null : wilson(covered, intervals.length),
    intervalScore: meanOrNull(
      intervals.map(({ low, high, truth, revenue }) => intervalScore(low, high, truth) / revenue),
    ),
  };
}
