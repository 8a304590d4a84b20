import { recoveredRevenue } from './compose-figures.ts';
import { isUnmeasurable } from './figures.ts';
import type { AnalysisFigures, ChannelFigures } from './figures.ts';
import { presentChannels } from './present-attribution.ts';

/** Where the channels occur. */
export interface Occurrences {
  /** Touches of the channel on any journey of the run, or in the range. */
  readonly touchesOf: (channel: string) => number;
}

const NEAR = 1e-6;
const isNear = (one: number, other: number, unit = 1): boolean =>
  Math.abs(one - other) <= NEAR * Math.max(unit, Math.abs(one), Math.abs(other));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Whether the credit is below 0 as its whole interval is. */
const doesHarm = ({ attributedRevenueCents, confidenceInterval }: ChannelFigures): boolean =>
  attributedRevenueCents < 0 && confidenceInterval !== null && confidenceInterval.upper < 0;

/** What has to be true of any answer, whatever the data: each by name, true where it holds. */
const INVARIANTS: Readonly<Record<string, (figures: AnalysisFigures, occurrences: Occurrences) => boolean>> = {
  intervals_contain_their_point: ({ channels }) =>
    channels.every(
      ({ confidenceInterval, attributedRevenueCents }) =>
        confidenceInterval === null ||
        (confidenceInterval.lower <= attributedRevenueCents / 100 + NEAR &&
          attributedRevenueCents / 100 <= confidenceInterval.upper + NEAR),
    ),
  confidences_lie_between_0_and_1: ({ channels, confidence }) =>
    [...channels.map((channel) => channel.confidence), confidence].every(
      (value) => value === null || (value >= 0 && value <= 1),
    ),
  no_spend_is_negative: ({ channels }) => channels.every(({ spend }) => spend >= 0),
  roi_and_roas_match_their_parts: ({ channels, revenueCents }) =>
    presentChannels(channels, revenueCents).every(({ roi, roas, spend, attributedRevenue, identification }) =>
      spend > 0 && identification?.status !== 'none'
        ? roi !== null &&
          roas !== null &&
          isNear(spend * (1 + roi), attributedRevenue) &&
          isNear(spend * roas, attributedRevenue)
        : roi === null && roas === null,
    ),
  lift_matches_its_parts: ({ channels, revenueCents }) =>
    presentChannels(channels, revenueCents).every(
      ({ causalLift, attributedRevenue }) =>
        causalLift === null ||
        causalLift === 10 ||
        isNear(causalLift * (revenueCents / 100 - attributedRevenue), attributedRevenue),
    ),
  shares_sum_to_1: ({ channels }) => {
    const total = sum(channels.map(({ share }) => share));
    const harms = channels.some(doesHarm);
    return (
      channels.every(
        (channel) =>
          channel.share === 0 || (channel.share > 0 ? harms || channel.share <= 1 + NEAR : doesHarm(channel)),
      ) &&
      (isNear(total, 1) || total === 0)
    );
  },
  credit_below_0_only_where_the_whole_interval_is: ({ channels, revenueCents }) =>
    revenueCents < 0 ||
    channels.every(
      (channel) => channel.attributedRevenueCents >= -1 || !('identification' in channel) || doesHarm(channel),
    ),
  shares_of_each_model_sum_to_1: ({ modelBreakdown }) =>
    Object.values(modelBreakdown)
      .map((shares) => sum(Object.values(shares)))
      .every((total) => isNear(total, 1) || total === 0),
  no_credit_without_a_touch_or_an_experiment: ({ channels, calibrations = [] }, { touchesOf }) =>
    channels.every(
      ({ channel, attributedRevenueCents }) =>
        touchesOf(channel) > 0 ||
        Math.abs(attributedRevenueCents) <= 1 ||
        calibrations.some((measured) => (measured.channels ?? [measured.channel]).includes(channel)),
    ),
  nothing_is_said_of_what_is_not_measurable: ({ channels }) =>
    channels.every(
      (channel) =>
        !isUnmeasurable(channel) ||
        (Math.abs(channel.attributedRevenueCents) <= 1 && channel.confidenceInterval === null),
    ),
  conversions_stay_within_those_observed: ({ channels, conversions }) =>
    channels.every((channel) => channel.conversions >= -NEAR || doesHarm(channel)) &&
    sum(channels.map((channel) => channel.conversions)) <= conversions * (1 + NEAR) + NEAR,
  baseline_holds_what_no_touch_preceded: ({ baselineRevenueCents, unattributedRevenueCents, channels }) =>
    unattributedRevenueCents <= 0 || baselineRevenueCents + channels.length >= unattributedRevenueCents,
  last_click_sums_to_what_had_a_touch: ({ channels, revenueCents, unattributedRevenueCents }) =>
    sum(channels.map(({ lastclickRevenueCents }) => lastclickRevenueCents)) === revenueCents - unattributedRevenueCents,
  delta_r_matches_its_parts: (figures) => {
    const parts = recoveredRevenue(figures.channels);
    return (
      parts.deltaRCents === figures.deltaRCents &&
      parts.deltaRNetCents === figures.deltaRNetCents &&
      figures.deltaRCents === figures.revenueCausalCents - figures.revenueLastclickCents &&
      figures.deltaRCents >= 0
    );
  },
};

export const INVARIANT_NAMES: readonly string[] = Object.keys(INVARIANTS);

/** The names of the invariants that the figures break. */
export function brokenInvariants(figures: AnalysisFigures, occurrences: Occurrences): readonly string[] {
  return Object.entries(INVARIANTS).flatMap(([name, holds]) => (holds(figures, occurrences) ? [] : [name]));
}

/** |Σ channel revenue + baseline − revenue| / |revenue|, clipped to 1; figures that are all 0 agree. */
export function internalInconsistency({ channels, baselineRevenueCents, revenueCents }: AnalysisFigures): number {
  const missing = Math.abs(
    sum(channels.map(({ attributedRevenueCents }) => attributedRevenueCents)) + baselineRevenueCents - revenueCents,
  );
  return missing === 0 ? 0 : Math.min(1, missing / Math.abs(revenueCents));
}
