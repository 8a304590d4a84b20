import type { PathTable } from '../../journey-tables.ts';
import { seededRandom } from '../../numerics/random.ts';
import { RandomGroups } from '../../numerics/random-groups.ts';
import { SystematicSample } from '../../numerics/systematic-sample.ts';
import type { Checkpoint, PathTotals } from '../../outcome.ts';
import { orderDeviation } from '../channel-sets.ts';
import { deleteEachGroup, JOURNEY_GROUPS } from '../credit-intervals.ts';
import { PATHS_PER_CHECK, sumOf } from '../credits.ts';
import type { ChainsWithout, Outcome, RemovalEffects } from './removal-effects.ts';

/** Touches × channels looked at for the errors: some milliseconds. */
const BUDGET = 4e6;
const FEWEST_SAMPLED = 2_000;

/** The credit whose error is asked for. */
export interface Credited {
  /** revenue per channel */
  readonly value: Float64Array;
  /** what the removal effects that divide it are taken of */
  readonly outcome: Outcome;
  readonly totals: PathTotals;
}

/**
 * Delete-a-group replicates of Markov credit (groups × K), by the infinitesimal jackknife (Jaeckel 1972; Efron 1982,
 * ch. 6).
 *
 * With channel x removed, a journey that goes through s₁ … s_L and is worth r moves the expected outcome E₋ₓ by
 *   ψₓ = h(s₁) − E₋ₓ + Σ_t ρ(s_t)·(h(s_t+1) − h(s_t)) + ρ(s_L)·(r − h(s_L)),
 * h the expected outcome from a state and ρ the part of its visits that is left, both without x: the derivative of the
 * chain's solution along the journey's own transitions. Removal effects move by (r − E) − ψₓ, and credit with them.
 * Every journey counts as one draw, whatever the order of the chain, so that errors hold also where journeys are no
 * Markov chain. The revenue that is divided varies with how many journeys there are, too, as in the other path models.
 *
 * Sums of ψ per random group stand in for as many solutions of the chain. Of very many paths a sample is enough, drawn
 * with probability proportional to their counts, conversions and nulls apart.
 */
export function creditReplicates(
  table: PathTable,
  effects: RemovalEffects,
  chains: ChainsWithout,
  credited: Credited,
  seed: number,
  checkpoint: Checkpoint,
): Float64Array {
  const { offsets, conversions, nulls, value, valueSquares } = table;
  const { totals } = credited;
  const channels = table.channels.length;
  const paths = conversions.length;
  const byRevenue = credited.outcome === 'value';
  const lost = byRevenue ? effects.lostValue : effects.lost;
  const journeys = totals.conversions + totals.nulls;
  const sampled = Math.max(FEWEST_SAMPLED, BUDGET / channels / (offsets[paths]! / totals.paths));
  const random = seededRandom(seed);
  const sampleOfConversions = new SystematicSample((2 * totals.conversions) / sampled, random);
  const sampleOfNulls = new SystematicSample((2 * totals.nulls) / sampled, random);
  const groups = new RandomGroups(JOURNEY_GROUPS, seed);
  /** per group: Σ of what its journeys move the removal effect of each channel by, then the revenue */
  const width = channels + 1;
  const moved = new Float64Array(JOURNEY_GROUPS * width);
  const states = new Int32Array(longestPath(offsets));
  /** ψₓ + E₋ₓ of the path at hand but for its outcome; the row of its last state; what a draw stands for */
  const path = new Float64Array(channels);
  let last = 0;
  let weight = 0;
  const add = (group: number, count: number, worth: number, revenue: number): void => {
    const row = group * width;
    for (let x = 0; x < channels; x++)
      moved[row + x]! += weight * (worth * (1 - chains.passage[last + x]!) - count * path[x]!);
    moved[row + channels]! += weight * revenue;
  };
  const addRevenue = (group: number, count: number, revenue: number): void => add(group, count, revenue, revenue);
  const addConversions = (group: number, count: number, revenue: number): void => add(group, count, count, revenue);
  const addNulls = (group: number, count: number, revenue: number): void => add(group, count, 0, revenue);

  for (let p = 0; p < paths; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint(p / paths);
    if (offsets[p] === offsets[p + 1]) continue;
    const converted = conversions[p]!;
    const weightOfConversions = sampleOfConversions.weightOf(converted);
    const weightOfNulls = sampleOfNulls.weightOf(nulls[p]!);
    if (weightOfConversions === 0 && weightOfNulls === 0) continue;
    const visited = effects.statesOf(p, states);
    followPath(chains, states, visited, path);
    for (let x = 0; x < channels; x++) path[x]! += lost[x]!;
    last = states[visited - 1]! * channels;
    if (weightOfConversions > 0) {
      weight = weightOfConversions;
      const deviation = valueSquares === undefined ? 0 : orderDeviation(converted, value[p]!, valueSquares[p]!);
      groups.split(
        weight === 1 ? converted : 1,
        value[p]! / converted,
        deviation,
        byRevenue ? addRevenue : addConversions,
      );
    }
    if (weightOfNulls > 0) {
      weight = weightOfNulls;
      // Revenue of a path without a conversion goes with its nulls.
      const revenue = converted > 0 ? 0 : value[p]! / nulls[p]!;
      groups.split(weight === 1 ? nulls[p]! : 1, revenue, 0, byRevenue ? addRevenue : addNulls);
    }
  }
  return creditsWithout(deleteEachGroup(moved, JOURNEY_GROUPS, new Float64Array(width)), credited, lost, journeys);
}

function longestPath(offsets: Uint32Array): number {
  let longest = 0;
  for (let p = 1; p < offsets.length; p++) longest = Math.max(longest, offsets[p]! - offsets[p - 1]!);
  return longest;
}

/** h(s₁) + Σ_t ρ(s_t)·(h(s_t+1) − h(s_t)) − ρ(s_L)·h(s_L) for every removed channel. */
function followPath({ hope, passage }: ChainsWithout, states: Int32Array, count: number, into: Float64Array): void {
  const channels = into.length;
  let here = states[0]! * channels;
  for (let x = 0; x < channels; x++) into[x] = hope[here + x]!;
  for (let t = 1; t < count; t++) {
    const next = states[t]! * channels;
    for (let x = 0; x < channels; x++) into[x]! += passage[here + x]! * (hope[next + x]! - hope[here + x]!);
    here = next;
  }
  for (let x = 0; x < channels; x++) into[x]! -= passage[here + x]! * hope[here + x]!;
}

/** Credit V·ℓₓ/Σℓ, linear in what deleting a group adds to J·ℓ and to V. */
function creditsWithout(
  change: Float64Array,
  { value, totals }: Credited,
  lost: Float64Array,
  journeys: number,
): Float64Array {
  const channels = value.length;
  const all = sumOf(lost);
  const perEffect = totals.value / all / journeys;
  const replicates = new Float64Array(JOURNEY_GROUPS * channels);
  for (let g = 0; g < JOURNEY_GROUPS; g++) {
    const row = g * (channels + 1);
    let changeOfAll = 0;
    for (let x = 0; x < channels; x++) changeOfAll += change[row + x]!;
    for (let x = 0; x < channels; x++) {
      const share = lost[x]! / all;
      replicates[g * channels + x] =
        value[x]! + perEffect * (change[row + x]! - share * changeOfAll) + share * change[row + channels]!;
    }
  }
  return replicates;
}
