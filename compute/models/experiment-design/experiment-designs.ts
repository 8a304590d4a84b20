import { normalQuantile, twoSidedZ, upperTail } from '../../numerics/normal-quantile.ts';
import { MECHANISM_ERROR } from '../causal/incremental-credit.ts';
import { RETURN_DEVIATION, USUAL_RETURN } from '../causal/spend-prior.ts';
import type { HoldoutWindow } from './holdout-windows.ts';

/** What an analysis knows of a channel that people can be kept away from. Money in major units, for the range. */
export interface DesignedChannel {
  readonly channel: string;
  readonly credit: number;
  /** null where the rows say nothing of the effect */
  readonly interval: { readonly lower: number; readonly upper: number; readonly level: number } | null;
  readonly spend: number;
}

/** What designs are made of; kept with the figures of an analysis. */
export interface DesignGround {
  readonly rangeDays: number;
  /** of the range, major units */
  readonly revenue: number;
  readonly windows: readonly HoldoutWindow[];
  readonly channels: readonly DesignedChannel[];
  /** share of revenue that is left after the cost of goods, in (0, 1]; all of it where absent */
  readonly margin?: number;
  /** standard error of their sum, where an experiment has measured it */
  readonly totalError?: number | undefined;
}

/**
 * A user holdout that would settle what one channel brings, or several together. Money in major units; what is of the
 * test is of its days, and of the whole shop as if nobody were held out.
 */
export interface ExperimentDesign {
  /** one, or all that can be held out together */
  readonly channels: readonly string[];
  readonly shareHeldOut: number;
  readonly durationDays: number;
  /** that the test finds with the asked power, at a two-sided level of 5 % */
  readonly smallestDetectableEffect: number;
  readonly expectedStandardError: number;
  /** what the held-out part is expected to order less */
  readonly lostRevenue: number;
  readonly decision: {
    readonly currentInterval: DesignedChannel['interval'];
    /** what pays for the spend of the range at the margin: a channel that brings less does not earn it back */
    readonly breakevenRevenue: number;
    /**
     * what deciding after the test is worth more than deciding now, over the year that follows, less what of the lost
     * revenue would be left: profit, at the margin
     */
    readonly valueOfInformation: number;
  };
  /** the test would know at least as much of the effect as the rows do */
  readonly isTelling: boolean;
  /** 1 = the most valuable */
  readonly rank: number;
}

/** Parts of the people that may be held out. */
const SHARES = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5] as const;
/** Two-sided level at which an effect counts as found. */
const CONFIDENCE = 0.95;
/** A decision is taken to hold for so long. */
const HORIZON_DAYS = 365;
/** A test of everything shall say the total to within a tenth of it in three cases of four. */
const TOTAL_WITHIN = 0.1;
const IN_CASES = 0.75;

interface Belief {
  readonly mean: number;
  readonly deviation: number;
  /** revenue that pays for the spend */
  readonly breakEven: number;
}

interface Candidate {
  readonly share: number;
  readonly days: number;
  readonly standardError: number;
  readonly lostRevenue: number;
  readonly netValue: number;
  /** knows at least as much of the effect as the rows do */
  readonly isTelling: boolean;
  /** says it to within a tenth in three cases of four */
  readonly isClose: boolean;
}

/**
 * One design per channel, and one for all of them together where there are several; the most valuable first, ties by
 * name. Per channel the share and length of the highest net value, among those that would know at least as much of the
 * effect as the rows do, where there are such. The test of everything is there for the total: the cheapest that says
 * it to within a tenth in three cases of four, else the sharpest.
 *
 * With share h held out at random, the difference of the two arms, each scaled to the whole shop, has variance
 * Σ rᵢ² / (h (1 − h)) (Horvitz & Thompson 1952), rᵢ a person's revenue in the days of the test. The smallest detectable
 * effect is (z₀.₉₇₅ + z_power) standard errors (Cohen 1988). The value of information is the expected gain of keeping
 * or stopping the channel by what the test will say (normal prior and posterior: Raiffa & Schlaifer 1961, ch. 5).
 * @param power in (0, 1)
 */
export function experimentDesigns(ground: DesignGround, power: number): readonly ExperimentDesign[] {
  const { channels, windows } = ground;
  if (windows.length === 0) return [];
  const beliefs = channels.map((channel) => beliefIn(channel, ground));
  const alone = channels.map(({ channel, interval }, c) =>
    designed([channel], interval, beliefs[c]!, chosenForValue(candidatesFor(beliefs[c]!, ground)), power),
  );
  const designs = channels.length < 2 ? alone : [...alone, ofAllTogether(ground, beliefs, power)];
  return designs
    .toSorted(
      (a, b) =>
        b.decision.valueOfInformation - a.decision.valueOfInformation ||
        a.channels.length - b.channels.length ||
        (a.channels[0]! < b.channels[0]! ? -1 : 1),
    )
    .map((design, place) => ({ ...design, rank: place + 1 }));
}

/** What intervals leave open is taken as independent from channel to channel, as it is found to be. */
function ofAllTogether(ground: DesignGround, beliefs: readonly Belief[], power: number): Unranked {
  const { channels } = ground;
  const sum = (of: (belief: Belief) => number): number => beliefs.reduce((all, belief) => all + of(belief), 0);
  const total: Belief = {
    mean: sum(({ mean }) => mean),
    deviation: Math.min(Math.sqrt(sum(({ deviation }) => deviation ** 2)), ground.totalError ?? Infinity),
    breakEven: sum(({ breakEven }) => breakEven),
  };
  const level = channels.find(({ interval }) => interval !== null)?.interval?.level ?? CONFIDENCE;
  const reach = twoSidedZ(level) * total.deviation;
  const interval = { lower: total.mean - reach, upper: total.mean + reach, level };
  const chosen = chosenForTotal(candidatesFor(total, ground));
  return designed(
    channels.map(({ channel }) => channel),
    interval,
    total,
    chosen,
    power,
  );
}

/** Normal: the credit, and the deviation that its interval stands for; of what is unknown, what such spend brings. */
function beliefIn({ credit, interval, spend }: DesignedChannel, { revenue, margin = 1 }: DesignGround): Belief {
  const breakEven = spend / margin;
  if (interval === null)
    return {
      mean: USUAL_RETURN * spend,
      deviation: Math.max(RETURN_DEVIATION * spend, MECHANISM_ERROR * Math.max(0, revenue)),
      breakEven,
    };
  const deviation = Math.max(0, interval.upper - interval.lower) / (2 * twoSidedZ(interval.level));
  return { mean: credit, deviation, breakEven };
}

function candidatesFor(belief: Belief, { windows, rangeDays, margin = 1 }: DesignGround): readonly Candidate[] {
  const { mean, deviation } = belief;
  return windows.flatMap(({ days, revenueSquares }) =>
    SHARES.map((share): Candidate => {
      const standardError = Math.sqrt(revenueSquares / (share * (1 - share)));
      const errorOfRange = (standardError * rangeDays) / days;
      const expected = (Math.max(0, mean) * days) / rangeDays;
      const lostRevenue = share * expected;
      return {
        share,
        days,
        standardError,
        lostRevenue,
        netValue: margin * ((HORIZON_DAYS / rangeDays) * gainOfKnowing(belief, errorOfRange) - lostRevenue),
        isTelling: errorOfRange <= deviation,
        isClose: twoSidedZ(IN_CASES) * standardError <= TOTAL_WITHIN * expected,
      };
    }),
  );
}

/**
 * Revenue that deciding by a test brings, on average, over deciding now: keep what earns its spend, stop what doesn't.
 * With s the deviation of what will be believed after a test of this error, it is s times the unit normal loss of the
 * distance between belief and break-even, in s.
 */
function gainOfKnowing({ mean, deviation, breakEven }: Belief, error: number): number {
  const variance = deviation ** 2;
  const s = variance > 0 ? variance / Math.sqrt(variance + error ** 2) : 0;
  if (!(s > 0)) return 0;
  const u = Math.abs(mean - breakEven) / s;
  const density = Math.exp(-(u ** 2) / 2) / Math.sqrt(2 * Math.PI);
  return s * Math.max(0, density - u * upperTail(u));
}

function chosenForValue(candidates: readonly Candidate[]): Candidate {
  const telling = candidates.filter(({ isTelling }) => isTelling);
  return best(telling.length > 0 ? telling : candidates, ({ netValue }) => netValue);
}

function chosenForTotal(candidates: readonly Candidate[]): Candidate {
  const close = candidates.filter(({ isClose }) => isClose);
  if (close.length > 0) return best(close, ({ lostRevenue }) => -lostRevenue);
  return best(candidates, ({ standardError, days }) => -standardError / days);
}

const best = (candidates: readonly Candidate[], by: (candidate: Candidate) => number): Candidate =>
  candidates.reduce((leader, each) => (by(each) > by(leader) ? each : leader));

type Unranked = Omit<ExperimentDesign, 'rank'>;

function designed(
  channels: readonly string[],
  currentInterval: DesignedChannel['interval'],
  { breakEven }: Belief,
  { share, days, standardError, lostRevenue, netValue, isTelling }: Candidate,
  power: number,
): Unranked {
  return {
    channels,
    shareHeldOut: share,
    durationDays: days,
    smallestDetectableEffect: (twoSidedZ(CONFIDENCE) + normalQuantile(power)) * standardError,
    expectedStandardError: standardError,
    lostRevenue,
    decision: { currentInterval, breakevenRevenue: breakEven, valueOfInformation: netValue },
    isTelling,
  };
}
