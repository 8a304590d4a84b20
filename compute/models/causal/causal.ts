import { largestRemainder, toCents } from '../../numerics/largest-remainder.ts';
import { failure, insufficientData } from '../../outcome.ts';
import type { ChannelCredits, Failure, FailureCode, PathTotals } from '../../outcome.ts';
import { sharesOf, sumOf } from '../credits.ts';
import type { CausalInput } from './causal-input.ts';
import { CAUSAL_MEMBERS } from './causal-result.ts';
import type { CausalMember, CausalResult } from './causal-result.ts';
import { aligner } from './channel-alignment.ts';
import { deltaROf } from './delta-r.ts';
import { creditByPlacebos, creditByPrior } from './incremental-credit.ts';
import type { IncrementalCredit } from './incremental-credit.ts';
import type { MemberShares } from './stacking.ts';

/** Members whose disagreement on a channel's share lowers the confidence in it. */
const WITNESSES: readonly CausalMember[] = ['markov', 'shapley', 'prav'];

/** A member that cannot answer is left out; one that was cancelled or broke must not change the answer silently. */
const TOLERATED: ReadonlySet<FailureCode> = new Set(['insufficient_data', 'too_many_channels']);

const NAMES: Readonly<Record<CausalMember, string>> = { markov: 'Markov', shapley: 'Shapley', dominance: 'Dominance analysis', rwa: 'Relative weights', prav: 'PRAV' };

function faultOf({ channels, isBaseline, confidenceLevel, totals }: CausalInput): string | null {
  if (isBaseline.length !== channels.length) return 'isBaseline needs one entry per channel';
  if (!(confidenceLevel > 0 && confidenceLevel < 1)) return 'confidenceLevel lies between 0 and 1';
  return Number.isFinite(totals.revenue) && totals.conversions >= 0 ? null : 'the totals are not numbers';
}

/** Each member's shares over all channels and over the paid ones; members without paid credit are left out. */
function sharesByMember({ channels, isBaseline, members }: CausalInput): { full: MemberShares; paid: MemberShares } {
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

/** 1 / (1 + width/T + 2·population sd of the share over the witnesses), 0 where T is 0. */
function confidenceOf(width: number, total: number, shares: readonly number[]): number {
  if (!(total > 0)) return 0;
  const mean = shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
  const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / Math.max(1, shares.length);
  return 1 / (1 + width / total + 2 * Math.sqrt(variance));
}

/** Rounds a division of `revenueCents` to cents: the last entry is the remainder that no channel gets. */
function centsOf(values: Float64Array, revenue: number, revenueCents: number): { channels: Float64Array; rest: number } {
  const parts = new Float64Array(values.length + 1);
  parts.set(values);
  parts[values.length] = revenue - sumOf(values);
  const cents = largestRemainder(parts.map((part) => part * 100), revenueCents);
  return { channels: cents.subarray(0, values.length).slice(), rest: cents[values.length]! };
}

/**
 * The causal model: shares of the five members blended by stacked weights, times PRAV's incremental revenue T; what is left
 * of the revenue is baseline. Falls back to prior weights where PRAV could not run. A member that was cancelled, or failed for
 * another reason than its data, is handed on as the failure of the whole.
 */
export function runCausal(input: CausalInput): CausalResult | Failure {
  const fault = faultOf(input);
  if (fault !== null) return failure('invalid_input', `Causal: ${fault}.`);
  const { channels, isBaseline, members, totals } = input;
  const broken = CAUSAL_MEMBERS.map((member): { readonly ok: true } | Failure => members[member]).find((outcome) => !outcome.ok && !TOLERATED.has(outcome.code));
  if (broken?.ok === false) return broken;
  const { full, paid } = sharesByMember(input);
  const setting = {
    channels: channels.length,
    isBaseline,
    confidenceLevel: input.confidenceLevel,
    mostRevenue: Math.max(0, totals.revenue),
    mostConversions: totals.conversions,
  };
  let credit: IncrementalCredit;
  if (members.prav.ok) credit = creditByPlacebos(members.prav, aligner(channels, members.prav.channels), paid, setting);
  else {
    const pathTotals: PathTotals | undefined = [members.markov, members.shapley, members.dominance, members.rwa].find((member) => member.ok)?.totals;
    if (pathTotals === undefined) return insufficientData(members.markov.ok ? 'No model could run.' : members.markov.message);
    credit = creditByPrior(paid, full, pathTotals, members.prav.message, setting);
  }

  const total = credit.revenue;
  const value = credit.share.map((share) => share * total);
  const intervalLow = credit.low.map((low, c) => (isBaseline[c] === 1 ? 0 : Math.min(low, value[c]!)));
  const intervalHigh = credit.high.map((high, c) => (isBaseline[c] === 1 ? 0 : Math.max(high, value[c]!)));
  const confidence = value.map((_, c) => {
    const shares = WITNESSES.flatMap((member) => (paid[member] === undefined ? [] : [paid[member][c]!]));
    return isBaseline[c] === 1 ? 0 : confidenceOf(intervalHigh[c]! - intervalLow[c]!, total, shares);
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
    memberShare: paid,
    share: credit.share,
    conversions: credit.share.map((share) => share * credit.conversions),
    value,
    intervalLow,
    intervalHigh,
    confidence,
    overallConfidence: total > 0 ? value.reduce((sum, amount, c) => sum + amount * confidence[c]!, 0) / sumOf(value) : 0,
    incrementalRevenue: total,
    incrementalConversions: credit.conversions,
    revenue: totals.revenue,
    baselineRevenue: totals.revenue - total,
    valueCents: published.channels,
    baselineCents: published.rest,
    revenueCents,
    lastClickCents,
    deltaR: deltaROf(published.channels, lastClickCents, isBaseline, revenueCents, credit.deltaRInterval(lastClick)),
    warnings: [
      ...credit.warnings,
      ...CAUSAL_MEMBERS.flatMap((member) => {
        const outcome = members[member];
        return outcome.ok || member === 'prav' ? [] : [`${NAMES[member]} could not run: ${outcome.message}`];
      }),
    ],
  };
}
