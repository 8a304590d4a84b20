import type { AssociationResult } from '../association-result.ts';
import type { ComparisonResult } from '../comparison/comparison-result.ts';
import type { MarkovResult } from '../markov/markov-result.ts';
import type { PravResult } from '../prav/prav-result.ts';
import type { ShapleyResult } from '../shapley/shapley-result.ts';
import type { Experiment } from './calibration.ts';
import type { CreditMeasurements } from './credit-measurements.ts';
import type { Failure } from '../../outcome.ts';

/** The outcomes of the five members; a member that failed is left out of the combination. */
export interface CausalMembers {
  readonly markov: MarkovResult | Failure;
  readonly shapley: ShapleyResult | Failure;
  readonly dominance: AssociationResult<'dominance'> | Failure;
  readonly rwa: AssociationResult<'rwa'> | Failure;
  readonly prav: PravResult | Failure;
}

/** The members' answers and what they are combined by. */
export interface CausalInput {
  /** the channels of the answer; the members' channels are matched by name */
  readonly channels: readonly string[];
  /** per channel of `channels`: 1 = baseline, 0 = paid */
  readonly isBaseline: Uint8Array;
  readonly confidenceLevel: number;
  /** all conversions and revenue of the range, attributed or not */
  readonly totals: { readonly conversions: number; readonly revenue: number };
  readonly members: CausalMembers;
  readonly comparison: ComparisonResult;
  /** per channel of `channels`, what was paid for its reach in the range, major units; 0 where unknown or nothing */
  readonly spend: Float64Array;
  /** per channel of `channels`: 1 = what it costs says nothing of what it brings */
  readonly isOwnedMedia: Uint8Array;
  /** measured effects that calibrate the credit, pro-rated to the range; several per channel are combined */
  readonly experiments: readonly Experiment[];
  /** what the tests of the credit rest on; absent where none are asked for */
  readonly measurements?: CreditMeasurements | Failure;
}
