import type { Failure } from '../outcome.ts';
import type { AssociationResult } from '../models/association-result.ts';
import { aligner } from '../models/causal/channel-alignment.ts';
import type { CausalMembers } from '../models/causal/causal-input.ts';
import type { CausalMember, CausalResult } from '../models/causal/causal-result.ts';
import { divide, sharesOf, sumOf } from '../models/credits.ts';
import type { MarkovResult } from '../models/markov/markov-result.ts';
import { NEGATIVE_OFFSET } from '../models/prav/joint-adjustment.ts';
import type { PravResult } from '../models/prav/prav-result.ts';
import type { JourneyWitness } from './evidence.ts';

/** What every model of a run answered. */
export type RunOutcomes = CausalMembers & { readonly causal: CausalResult | Failure };

/** What a second derivation of the credit rests on, beside the models' own reports. Money in major units. */
export interface CreditWitness {
  readonly journeys: JourneyWitness;
  /** of the range, counted in the store: touches per channel, conversions, revenue */
  readonly touches: ReadonlyMap<string, number>;
  readonly conversions: number;
  readonly revenue: number;
  /** names of the unpaid channels */
  readonly baseline: ReadonlySet<string>;
}

/** Two derivations of one figure. */
const TOLERANCE = 1e-6;

/**
 * The credited revenue of every channel of the outcome by the model's own identity: Shapley by the dividends of single
 * journeys; Markov by the fundamental matrix of transitions counted from single journeys; dominance and relative
 * weights by weights that sum to one R², which the other finds too; PRAV by its effects times the touches counted in
 * the store; causal by blending these. null where an identity does not hold.
 */
export function secondCredit(
  model: 'causal' | CausalMember,
  outcomes: RunOutcomes,
  witness: CreditWitness,
): Float64Array | null {
  if (model !== 'causal') return memberCredit(model, outcomes, witness);
  return outcomes.causal.ok ? causalCredit(outcomes.causal, outcomes, witness) : null;
}

function memberCredit(
  model: CausalMember,
  { markov, dominance, rwa, prav }: RunOutcomes,
  witness: CreditWitness,
): Float64Array | null {
  const { journeys } = witness;
  switch (model) {
    case 'shapley':
      return journeys.shapley;
    case 'markov':
      return markov.ok ? markovCredit(markov, journeys) : null;
    case 'dominance':
      return dominance.ok && areSound(dominance, rwa)
        ? divide(weightsOf(dominance, 'valueOutcome'), journeys.attributedRevenue)
        : null;
    case 'rwa':
      return rwa.ok && areSound(rwa, dominance)
        ? divide(weightsOf(rwa, 'valueOutcome'), journeys.attributedRevenue)
        : null;
    case 'prav':
      return prav.ok ? pravCredit(prav, witness) : null;
  }
}

/** Order 1 is solved again. Of a higher order, the chain must absorb as many journeys as converted: P = C / (C + N). */
function markovCredit(
  markov: MarkovResult,
  { lost, lostValue, convertingJourneys, journeys, attributedRevenue }: JourneyWitness,
): Float64Array | null {
  const isSolvedAgain = markov.order === 1 && lost !== null && lostValue !== null;
  if (!isSolvedAgain && Math.abs(markov.probability - convertingJourneys / journeys) > TOLERANCE) return null;
  const [effects, valueEffects] = isSolvedAgain ? [lost, lostValue] : [markov.removalEffect, markov.removalEffectValue];
  const sum = sumOf(valueEffects);
  const size = valueEffects.reduce((total, effect) => total + Math.abs(effect), 0);
  // Effects of a higher order come relative to the expected value, whose sign they lost.
  const isDivisible =
    Math.abs(sum) > size * 1e-9 && (!isSolvedAgain || Math.sign(sum) === Math.sign(attributedRevenue));
  return divide(isDivisible ? valueEffects : effects, attributedRevenue);
}

function areSound(
  outcome: AssociationResult<'dominance' | 'rwa'>,
  other: AssociationResult<'dominance' | 'rwa'> | Failure,
): boolean {
  return (['conversionOutcome', 'valueOutcome'] as const).every((name) => {
    const { weight, r2 } = outcome[name];
    const near = (found: number): boolean => Math.abs(found - r2) <= TOLERANCE * Math.max(r2, TOLERANCE);
    return near(sumOf(weight)) && (!other.ok || near(other[name].r2));
  });
}

/** The weights for one outcome, or for the other where presence explains nothing of this one. */
function weightsOf(
  { conversionOutcome, valueOutcome }: AssociationResult<'dominance' | 'rwa'>,
  first: 'conversionOutcome' | 'valueOutcome',
): Float64Array {
  const [wanted, other] =
    first === 'valueOutcome' ? [valueOutcome, conversionOutcome] : [conversionOutcome, valueOutcome];
  return (wanted.r2 > 0 ? wanted : other).weight;
}

/**
 * Effect per touch times touches times order value where that is positive; the sum loses the estimator's offset for
 * what lies below 0, and stays within the conversions and the revenue that a touch preceded. The plain estimator's
 * touches are those in the store; the joint one counts a touch by the part of its effect that falls into the range,
 * which only its own signed revenue knows. What the estimator claims in part is claimed in part here.
 * `harmful`: channels that are shown below 0, and not taken off the others.
 */
function pravCredit(
  prav: PravResult,
  { touches, journeys }: CreditWitness,
  harmful: ReadonlySet<string> = new Set(),
): Float64Array {
  const isJoint = prav.estimator === 'joint';
  const signed = prav.effect.map((effect, c) => {
    if (harmful.has(prav.channels[c]!)) return 0;
    return isJoint ? prav.signedRevenue[c]! : effect * (touches.get(prav.channels[c]!) ?? 0) * prav.averageOrderValue;
  });
  const positive = signed.map((part) => Math.max(0, part));
  const above = sumOf(positive);
  const below = above - sumOf(signed);
  const offset = isJoint ? NEGATIVE_OFFSET * below : 0;
  const total = Math.min(
    Math.max(0, above - offset),
    journeys.convertingJourneys * prav.averageOrderValue,
    Math.max(0, journeys.attributedRevenue),
  );
  return above === 0 ? positive : positive.map((part) => (part / above) * total * prav.claimed);
}

/**
 * Σ weight · share of each member among the paid channels, times the incremental total; of a channel that does harm,
 * PRAV's signed revenue. What spend and experiments moved is taken as they left it.
 */
function causalCredit(causal: CausalResult, outcomes: RunOutcomes, witness: CreditWitness): Float64Array | null {
  const blended = new Float64Array(causal.channels.length);
  const isHarmful = (c: number): boolean => causal.modelCredit[c]! < 0;
  const harmful = new Set(causal.channels.filter((_, c) => isHarmful(c)));
  for (const [member, weight] of Object.entries(causal.weights) as [CausalMember, number][]) {
    const outcome = outcomes[member];
    if (weight === 0 || !outcome.ok) continue;
    const credit =
      member === 'dominance' || member === 'rwa'
        ? associationShare(outcomes[member])
        : memberCredit(member, outcomes, witness);
    if (credit === null) return null;
    const share = sharesOf(
      aligner(
        causal.channels,
        outcome.channels,
      )(credit).map((part, c) => (witness.baseline.has(causal.channels[c]!) || isHarmful(c) ? 0 : part)),
    );
    share.forEach((part, c) => (blended[c]! += weight * part));
  }
  if (causal.calibrations.length > 0) return causal.value;
  const most = Math.max(0, witness.revenue - Math.max(0, witness.revenue - witness.journeys.attributedRevenue));
  const total = outcomes.prav.ok
    ? Math.min(sumOf(pravCredit(outcomes.prav, witness, harmful)), most)
    : sumOf(causal.modelCredit);
  const measured = outcomes.prav.ok
    ? aligner(causal.channels, outcomes.prav.channels)(harmOf(outcomes.prav, witness))
    : new Float64Array(causal.channels.length);
  return blended.map(
    (part, c) => (isHarmful(c) ? measured[c]! : part * total) + causal.value[c]! - causal.modelCredit[c]!,
  );
}

/** Signed revenue by effect, touches and order value, as far as the estimator's own touches are those in the store. */
function harmOf(prav: PravResult, { touches }: CreditWitness): Float64Array {
  if (prav.estimator === 'joint') return prav.signedRevenue;
  return prav.effect.map((effect, c) => effect * (touches.get(prav.channels[c]!) ?? 0) * prav.averageOrderValue);
}

function associationShare(outcome: AssociationResult<'dominance' | 'rwa'> | Failure): Float64Array | null {
  return outcome.ok && areSound(outcome, outcome) ? weightsOf(outcome, 'conversionOutcome') : null;
}
