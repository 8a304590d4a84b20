import type { ChannelCredits, PathTotals } from '../outcome.ts';
import type { CreditIntervals } from './credit-intervals.ts';

/** One regression of an outcome on channel presence, explained channel by channel. */
export interface Association {
  /** share of the outcome's variance that channel presence explains */
  readonly r2: number;
  /** per channel, non-negative, sums to r2 */
  readonly weight: Float64Array;
  /** weight / r2; all 0 where r2 is 0 */
  readonly share: Float64Array;
  /** direction per channel: −1, 0, 1 (dominance: covariance with the outcome; relative weights: OLS coefficient) */
  readonly sign: Int8Array;
  /**
   * error that sampling orderings leaves in each weight; all 0 where the weights are exact. Not the error of the data:
   * see `intervalLow`
   */
  readonly standardError: Float64Array;
}

/**
 * Dominance analysis and relative weights explain association, not cause. `conversions` are credited by the conversion
 * outcome, `value` by the value outcome; `share` is that of the conversion outcome.
 */
export interface AssociationResult<Model extends 'dominance' | 'rwa'> extends ChannelCredits, CreditIntervals {
  readonly ok: true;
  readonly model: Model;
  readonly totals: PathTotals;
  /** outcome: 1 for a converting journey, 0 for a null */
  readonly conversionOutcome: Association;
  /** outcome: revenue per conversion, 0 for a null */
  readonly valueOutcome: Association;
  /** false where dominance was sampled (more than 20 varying channels) */
  readonly exact: boolean;
  /** dominance: subsets evaluated or orderings sampled; relative weights: 0 */
  readonly evaluations: number;
  readonly warnings: readonly string[];
}
