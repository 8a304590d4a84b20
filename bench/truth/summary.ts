import { deviationOf, intervalScore, meanOf, medianOf, sharesOf, totalVariation, wilson } from './accuracy.ts';
import { METHODS } from './estimate-world.ts';
import type { Method } from './estimate-world.ts';
import type { WorldRecord } from './world-record.ts';

/** A channel is large when it earns this part of the incremental total: power is counted on large ones. */
export const LARGE = 0.1;
export const INTERVAL_METHODS = ['prav', 'causal'] as const satisfies readonly Method[];
export type IntervalMethod = (typeof INTERVAL_METHODS)[number];

/** One paid channel of one world, with a method's interval. Revenue in major units. */
export interface ChannelWorld {
  readonly world: WorldRecord;
  readonly channel: string;
  readonly truth: number;
  readonly credit: number;
  readonly low: number;
  readonly high: number;
  readonly covered: boolean;
  /** the interval excludes 0 */
  readonly significant: boolean;
}

export interface ErrorSummary {
  readonly shareError: number;
  readonly shareErrorSd: number;
  readonly shareErrorMedian: number;
  /** relative, mean of absolute values and signed mean */
  readonly totalError: number;
  readonly totalBias: number;
}

export interface IntervalSummary {
  readonly channelWorlds: number;
  readonly covered: number;
  readonly coverage: number;
  readonly coverageRange: readonly [low: number, high: number];
  /** mean width and interval score, as parts of the world's revenue */
  readonly width: number;
  readonly score: number;
  /** large channels: how many, and the part called significant; null where there are none */
  readonly large: number;
  readonly power: number | null;
  /** channels without any effect: how many, and the part called significant */
  readonly nulls: number;
  readonly falsePositives: number | null;
}

export const works = (world: WorldRecord): boolean => world.truthTotal > 0;
export const claimedTotal = (world: WorldRecord, method: Method): number =>
  world.estimates[method].credit.reduce((sum, credit) => sum + credit, 0);
export const shareErrorOf = (world: WorldRecord, method: Method): number =>
  totalVariation(sharesOf(world.estimates[method].credit), sharesOf(world.truth));
/** Signed and relative. */
export const totalErrorOf = (world: WorldRecord, method: Method): number =>
  claimedTotal(world, method) / world.truthTotal - 1;

/** Over worlds where something works. */
export function errorsOf(worlds: readonly WorldRecord[], method: Method): ErrorSummary {
  const shareErrors = worlds.map((world) => shareErrorOf(world, method));
  const totalErrors = worlds.map((world) => totalErrorOf(world, method));
  return {
    shareError: meanOf(shareErrors),
    shareErrorSd: deviationOf(shareErrors),
    shareErrorMedian: medianOf(shareErrors),
    totalError: meanOf(totalErrors.map(Math.abs)),
    totalBias: meanOf(totalErrors),
  };
}

export function channelWorlds(worlds: readonly WorldRecord[], method: IntervalMethod): ChannelWorld[] {
  return worlds.flatMap((world) => {
    const { credit, low, high } = world.estimates[method];
    return world.channels.map((channel, c): ChannelWorld => {
      const [truth, from, to] = [world.truth[c]!, low![c]!, high![c]!];
      return {
        world,
        channel,
        truth,
        credit: credit[c]!,
        low: from,
        high: to,
        covered: from <= truth && truth <= to,
        significant: from > 0,
      };
    });
  });
}

export function intervalsOf(worlds: readonly WorldRecord[], method: IntervalMethod): IntervalSummary {
  const all = channelWorlds(worlds, method);
  const covered = all.filter((one) => one.covered).length;
  const large = all.filter((one) => one.truth >= LARGE * one.world.truthTotal && one.truth > 0);
  const nulls = all.filter((one) => one.truth === 0);
  const significant = (some: readonly ChannelWorld[]): number | null =>
    some.length === 0 ? null : some.filter((one) => one.significant).length / some.length;
  return {
    channelWorlds: all.length,
    covered,
    coverage: covered / all.length,
    coverageRange: wilson(covered, all.length),
    width: meanOf(all.map(({ low, high, world }) => (high - low) / world.revenue)),
    score: meanOf(all.map(({ low, high, truth, world }) => intervalScore(low, high, truth) / world.revenue)),
    large: large.length,
    power: significant(large),
    nulls: nulls.length,
    falsePositives: significant(nulls),
  };
}

/** A line that the causal model must not cross. */
export interface Bar {
  readonly name: string;
  readonly measured: number;
  readonly wanted: string;
  readonly met: boolean;
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;

/** The bars of the truth report, over all worlds; those for which there is no world are left out. */
export function barsOf(worlds: readonly WorldRecord[]): Bar[] {
  const working = worlds.filter(works);
  const idle = worlds.filter((world) => !works(world));
  const share = (method: Method): number => errorsOf(working, method).shareError;
  const intervals = intervalsOf(working, 'causal');
  const everywhere = intervalsOf(worlds, 'causal');
  const atMost = (name: string, measured: number, limit: number, note = ''): Bar => ({
    name,
    measured,
    wanted: `at most ${percent(limit)}${note}`,
    met: measured <= limit,
  });
  return [
    atMost('share error against last click', share('causal'), share('last_click') / 3, ' (a third of last click’s)'),
    atMost('share error against Markov', share('causal'), 0.65 * share('markov_1'), ' (0.65 of Markov’s)'),
    atMost('error of the incremental total', errorsOf(working, 'causal').totalError, 0.1),
    {
      name: 'coverage of the 0.95 intervals',
      measured: intervals.coverage,
      wanted: '90 to 97 %',
      met: intervals.coverage >= 0.9 && intervals.coverage <= 0.97,
    },
    {
      name: `power: channels with at least ${100 * LARGE} % of the total called significant`,
      measured: intervals.power ?? NaN,
      wanted: 'at least 60 %',
      met: (intervals.power ?? 0) >= 0.6,
    },
    atMost('channels without effect called significant', everywhere.falsePositives ?? NaN, 0.1),
    atMost(
      'claimed where nothing works, as a part of revenue',
      meanOf(idle.map((world) => claimedTotal(world, 'causal') / world.revenue)),
      0.05,
    ),
  ].filter(({ measured }) => !Number.isNaN(measured));
}

export const errorTable = (worlds: readonly WorldRecord[]): Record<Method, ErrorSummary> =>
  Object.fromEntries(METHODS.map((method) => [method, errorsOf(worlds, method)])) as Record<Method, ErrorSummary>;
