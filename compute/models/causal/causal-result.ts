import type { ChannelCredits } from '../../outcome.ts';
import type { Calibration } from './calibration.ts';
import type { ChannelIdentification } from './channel-identification.ts';
import type { CreditTest } from './credit-test.ts';

/** The models that `causal` combines. */
export const CAUSAL_MEMBERS = ['markov', 'shapley', 'dominance', 'rwa', 'prav'] as const;
export type CausalMember = (typeof CAUSAL_MEMBERS)[number];

/** What last click hid: both rules divide the same revenue among the paid channels and the baseline. Integer cents. */
export interface DeltaR {
  /** per channel, signed; 0 for baseline channels */
  readonly deltaCents: Float64Array;
  /** channels that last click under-credits */
  readonly underCredited: readonly number[];
  readonly revenueCausalCents: number;
  readonly revenueLastClickCents: number;
  /** their difference, never negative */
  readonly deltaRCents: number;
  readonly deltaRNetCents: number;
  /** interval of deltaRCents at the run's confidence level */
  readonly lowCents: number;
  readonly highCents: number;
}

/**
 * `conversions`, `value` and `share` are of the paid channels; baseline channels carry 0. `value` is below 0 where the
 * whole interval is; then `share` is the part of the signed total, and 0 for all where that is not above 0.
 */
export interface CausalResult extends ChannelCredits {
  readonly ok: true;
  readonly model: 'causal';
  /** stacking weights, sum 1 */
  readonly weights: Readonly<Record<CausalMember, number>>;
  /** `placebo_adjusted`: weights learned on held-out lift; `prior`: published weights, PRAV could not run */
  readonly basis: 'placebo_adjusted' | 'prior';
  /** the credit that the members lead to, before spend and experiments move it */
  readonly modelCredit: Float64Array;
  /** how much of a channel's credit, before experiments, stands on what it cost: 0 … 1 */
  readonly spendWeight: Float64Array;
  /** whether the rows and experiments pin the effect down; null for baseline channels */
  readonly identification: readonly (ChannelIdentification | null)[];
  /** what was tried on the data, and how it ended */
  readonly tests: readonly CreditTest[];
  /** shares over paid channels of each member that ran */
  readonly memberShare: Readonly<Partial<Record<CausalMember, Float64Array>>>;
  /** [0, 0] for baseline channels */
  readonly intervalLow: Float64Array;
  readonly intervalHigh: Float64Array;
  /** 0 … 1 per paid channel; 1 for baseline channels, whose credit is 0 by definition */
  readonly confidence: Float64Array;
  /** revenue-weighted mean of the channels' confidence */
  readonly overallConfidence: number;
  /** T: incremental revenue of all paid channels */
  readonly incrementalRevenue: number;
  readonly incrementalConversions: number;
  readonly revenue: number;
  /** revenue − T */
  readonly baselineRevenue: number;
  /** the published figures, by largest remainder: channels + baseline = revenue */
  readonly valueCents: Float64Array;
  readonly baselineCents: number;
  readonly revenueCents: number;
  readonly lastClickCents: Float64Array;
  readonly deltaR: DeltaR;
  /** credited revenue of each delete-a-group jackknife replicate (groups × K, row-major); no groups on prior weights */
  readonly replicates: Float64Array;
  readonly groups: number;
  /** one entry per experiment, in their order */
  readonly calibrations: readonly Calibration[];
  /** PRAV's κ as estimated, and as the experiments leave it; null on prior weights */
  readonly kappa: { readonly estimated: number; readonly calibrated: number } | null;
  readonly warnings: readonly string[];
}
