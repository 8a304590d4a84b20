import { largestRemainder, toCents } from '../../numerics/largest-remainder.ts';
import { creditConfidence, failure } from '../../outcome.ts';
import type { ChannelCredits, Failure, FailureCode } from '../../outcome.ts';
import { sharesOf, sumOf } from '../credits.ts';
import type { CausalInput } from './causal-input.ts';
import { CAUSAL_MEMBERS } from './causal-result.ts';
import type { CausalMember, CausalResult } from './causal-result.ts';
import { aligner } from './channel-alignment.ts';
import { identifyChannels } from './channel-identification.ts';
import { sumOver } from './calibration.ts';
import { creditOfRows } from './credit-of-rows.ts';
import type { SharesByMember } from './credit-of-rows.ts';
import { failedTests, testCredit } from './credit-tests.ts';
import { deltaRInterval, deltaROf } from './delta-r.ts';
import { withExperiments } from './experiment-credit.ts';
import type { IncrementalCredit } from './incremental-credit.ts';
import { leanOnSpend } from './spend-prior.ts';
import type { MemberShares } from './stacking.ts';

/** Members whose disagreement on a channel's share lowers the confidence in it. */
const WITNESSES: readonly CausalMember[] = ['markov', 'shapley', 'prav'];

/** A member that cannot answer is left out; one that was cancelled or broke must not change the answer silently. */
const TOLERATED: ReadonlySet<FailureCode> = new Set(['insufficient_data', 'too_many_channels']);

/** Channels that a warning lists. */
const MOST_NAMED = 5;

const NAMES: Readonly<Record<CausalMember, string>> = {
  markov: 'Markov',
  shapley: 'Shapley',
  dominance: 'Dominance analysis',
  rwa: 'Relative weights',
  prav: 'PRAV',
};

function faultOf({
  channels,
  isBaseline,
  spend,
  isOwnedMedia,
  confidenceLevel,
  totals,
  experiments,
}: CausalInput): string | null {
  if (isBaseline.length !== channels.length) return 'isBaseline needs one entry per channel';
  if (isOwnedMedia.length !== channels.length) return 'isOwnedMedia needs one entry per channel';
  if (spend.length !== channels.length || !spend.every((amount) => amount >= 0 && amount < Infinity))
    return 'spend needs one amount per channel';
  if (!(confidenceLevel > 0 && confidenceLevel < 1)) return 'confidenceLevel lies between 0 and 1';
  for (const { channels: group, incrementalRevenue, standardError } of experiments) {
    if (group.length === 0 || new Set(group).size < group.length) return 'an experiment names each channel once';
    if (group.some((c) => isBaseline[c] !== 0)) return 'an experiment names a channel that is not a paid one';
    if (!Number.isFinite(incrementalRevenue) || !(standardError > 0 && standardError < Infinity))
      return 'an experiment needs a finite effect and a positive standard error';
  }
  return Number.isFinite(totals.revenue) && totals.conversions >= 0 ? null : 'the totals are not numbers';
}

/** Each member's shares over all channels and over the paid ones; members without paid credit are left out. */
function sharesByMember({ channels, isBaseline, members }: CausalInput): SharesByMember {
  const full: MemberShares = {};
  const paid: MemberShares = {};
  for (const member of CAUSAL_MEMBERS) {
    const outcome: ({ readonly ok: true } & ChannelCredits) | Failure = members[member];
    if (!outcome.ok) continue;
    const share = aligner(channels, outcome.channels)(outcome.share);
    const ofPaid = sharesOf(share.map((part, c) => (isBaseline[c] === 1 ? 0 : part)));
    full[member] = share;
    if (sumOf(ofPaid) > 0) paid[member] = ofPaid;
  }
  return { full, paid };
}

/** Rounds a division of `revenueCents` to cents: the last entry is the remainder that no channel gets. */
function centsOf(
  values: Float64Array,
  revenue: number,
  revenueCents: number,
): { channels: Float64Array; rest: number } {
  const parts = new Float64Array(values.length + 1);
  parts.set(values);
  parts[values.length] = revenue - sumOf(values);
  const cents = largestRemainder(
    parts.map((part) => part * 100),
    revenueCents,
  );
  return { channels: cents.subarray(0, values.length).slice(), rest: cents[values.length]! };
}

/** Says where the credit is nothing, or stands on spend for the most part. */
function spendWarnings(
  { value, basis }: IncrementalCredit,
  channels: readonly string[],
  spendWeight: Float64Array,
): readonly string[] {
  const leaning = channels.filter((_, c) => spendWeight[c]! > 0.5);
  const listed = leaning.slice(0, MOST_NAMED).join(', ') + (leaning.length > MOST_NAMED ? ', …' : '');
  const isAnyLeaning = spendWeight.some((weight) => weight > 0);
  return [
    ...(value.every((amount) => amount <= 0) && basis === 'placebo_adjusted'
      ? [
          'No paid channel shows an effect beyond that of unpaid visits: ' +
            (isAnyLeaning ? 'what is credited stands on what the channels cost.' : 'all revenue is baseline.'),
        ]
      : []),
    ...(leaning.length === 0
      ? []
      : [
          `The rows say little of ${listed}: more than half of the weight of ` +
            `${leaning.length === 1 ? 'its' : 'their'} credit lies on what such spend usually brings. An experiment ` +
            'would say more.',
        ]),
  ];
}

/**
 * The causal model: shares of the five members blended by stacked weights, times PRAV's incremental revenue T; what is
 * left of the revenue is baseline. Each credit is drawn towards what the channel's spend usually brings, the more the
 * less the rows say, and then moved by experiments. Falls back to prior weights where PRAV could not run. A
 * member that was cancelled, or failed for another reason than its data, is handed on as the failure of the whole.
 */
export function runCausal(input: CausalInput): CausalResult | Failure {
  const fault = faultOf(input);
  if (fault !== null) return failure('invalid_input', `Causal: ${fault}.`);
  const { channels, isBaseline, members, totals } = input;
  const broken = CAUSAL_MEMBERS.map((member): { readonly ok: true } | Failure => members[member]).find(
    (outcome) => !outcome.ok && !TOLERATED.has(outcome.code),
  );
  if (broken?.ok === false) return broken;
  const shares = sharesByMember(input);
  const setting = {
    channels: channels.length,
    isBaseline,
    confidenceLevel: input.confidenceLevel,
    // What no touch preceded is baseline: no marketing can have caused it.
    mostRevenue: Math.max(0, totals.revenue - Math.max(0, input.comparison.unattributed.value)),
    mostConversions: Math.max(0, totals.conversions - input.comparison.unattributed.conversions),
  };
  const found = identifyChannels({
    channels,
    isBaseline,
    spend: input.spend,
    touched: new Set(input.comparison.channels),
    prav: members.prav,
    conversions: totals.conversions,
    unseenConversions: input.comparison.unattributed.conversions,
  });
  const ofRows = creditOfRows(input, shares, found, setting);
  if (!ofRows.ok) return ofRows;
  const { modelled, bounded } = ofRows;
  const orders = aligner(channels, input.comparison.channels)(input.comparison.rules.linear.conversions);
  const spend = input.spend.map((amount, c) => (input.isOwnedMedia[c] === 1 ? 0 : amount));
  const { credit, spendWeight } = leanOnSpend(
    bounded,
    { spend, isOnJourney: Uint8Array.from(orders, (count, c) => (count > 0 && found[c]?.status !== 'none' ? 1 : 0)) },
    setting,
  );
  const tests =
    input.measurements === undefined
      ? []
      : testCredit(input.measurements, {
          channels,
          isBaseline,
          confidenceLevel: input.confidenceLevel,
          revenue: totals.revenue,
          low: bounded.low,
          high: bounded.high,
          prav: members.prav,
        });
  const failed = failedTests(tests, channels);

  const { conversions, value, low, high, replicates, ends, kappa, identification } = withExperiments(
    credit,
    input.experiments,
    { identification: found, spend },
    setting,
  );
  const total = sumOf(value);
  // Parts of a sum that is not above 0 say nothing.
  const share = total > 0 ? value.map((amount) => amount / total) : new Float64Array(channels.length);
  const size = value.reduce((sum, amount) => sum + Math.abs(amount), 0);
  const isUnknown = (c: number): boolean => identification[c]?.status === 'none';
  const intervalLow = low.map((end, c) => (isBaseline[c] === 1 ? 0 : Math.min(end, value[c]!)));
  const intervalHigh = high.map((end, c) => (isBaseline[c] === 1 ? 0 : Math.max(end, value[c]!)));
  // On prior weights T is only known to lie between 0 and the published figure: widths are measured against the middle
  // of that.
  const widthBasis = credit.basis === 'prior' ? size / 2 : size;
  const confidence = value.map((_, c) => {
    const witnessed = WITNESSES.flatMap((member) => shares.paid[member]?.[c] ?? []);
    return isBaseline[c] === 1
      ? 1
      : isUnknown(c)
        ? 0
        : creditConfidence(intervalHigh[c]! - intervalLow[c]!, widthBasis, witnessed, failed[c]!);
  });
  const lastClick = aligner(channels, input.comparison.channels)(input.comparison.rules.last.value);
  const revenueCents = toCents(totals.revenue);
  const published = centsOf(value, totals.revenue, revenueCents);
  const lastClickCents = centsOf(lastClick, totals.revenue, revenueCents).channels;
  return {
    ok: true,
    model: 'causal',
    channels,
    basis: credit.basis,
    weights: credit.weights,
    modelCredit: modelled.value,
    spendWeight,
    identification,
    tests,
    memberShare: shares.paid,
    share,
    conversions: share.map((part) => part * conversions),
    value,
    intervalLow,
    intervalHigh,
    confidence,
    overallConfidence:
      size > 0 ? value.reduce((sum, amount, c) => sum + Math.abs(amount) * confidence[c]!, 0) / size : 0,
    incrementalRevenue: total,
    incrementalConversions: conversions,
    revenue: totals.revenue,
    baselineRevenue: totals.revenue - total,
    valueCents: published.channels,
    baselineCents: published.rest,
    revenueCents,
    lastClickCents,
    deltaR: deltaROf(
      published.channels,
      lastClickCents,
      isBaseline.map((baseline, c) => (baseline === 1 || isUnknown(c) ? 1 : 0)),
      revenueCents,
      deltaRInterval({ replicates, groups: credit.groups, ends, low: intervalLow, high: intervalHigh }, lastClick, {
        ...setting,
        isLeftOut: isBaseline.map((baseline, c) => (baseline === 1 || isUnknown(c) ? 1 : 0)),
      }),
    ),
    replicates,
    groups: credit.groups,
    calibrations: input.experiments.map(({ channels: group, incrementalRevenue, standardError }) => ({
      channels: group,
      measured: incrementalRevenue,
      standardError,
      before: sumOver(group, (c) => credit.value[c]!),
      after: sumOver(group, (c) => value[c]!),
    })),
    kappa,
    warnings: [
      ...(input.experiments.length === 0
        ? []
        : [
            `Calibrated by ${input.experiments.length} ` +
              `${input.experiments.length === 1 ? 'experiment' : 'experiments'}.`,
          ]),
      ...credit.warnings,
      ...spendWarnings(bounded, channels, spendWeight),
      ...CAUSAL_MEMBERS.flatMap((member) => {
        const outcome = members[member];
        return outcome.ok || member === 'prav' ? [] : [`${NAMES[member]} could not run: ${outcome.message}`];
      }),
    ],
  };
}
