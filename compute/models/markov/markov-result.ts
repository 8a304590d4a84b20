import type { ChannelCredits, PathTotals } from '../../outcome.ts';
import type { CreditIntervals } from '../credit-intervals.ts';

/** Credit of the removal effects, and how the chain was solved. */
export interface MarkovResult extends ChannelCredits, CreditIntervals {
  readonly ok: true;
  readonly model: 'markov';
  readonly order: number;
  readonly totals: PathTotals;
  /** states of the chain: channels for order 1, k-grams above */
  readonly states: number;
  /** probability that a journey converts = conversions / journeys */
  readonly probability: number;
  /** expected revenue of a journey */
  readonly expectedValue: number;
  /** per channel, 1 − P without it / P */
  readonly removalEffect: Float64Array;
  /** the same for the expected revenue; may be negative where refunds outweigh sales */
  readonly removalEffectValue: Float64Array;
  /** sweeps of the sparse solver over all removals; 0 = solved by one factorisation */
  readonly iterations: number;
  readonly converged: boolean;
  readonly warnings: readonly string[];
}
