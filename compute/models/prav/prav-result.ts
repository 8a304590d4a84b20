import type { ChannelCredits } from '../../outcome.ts';
import type { ChannelFlanks } from './visit-flanks.ts';

/** What the causal model's stacking needs of the folds. Rows are folds, columns channels (row-major, folds × K). */
export interface PravFolds {
  readonly folds: number;
  /** signed incremental revenue on the fold, 0 for baseline channels */
  readonly target: Float64Array;
  /** its grouped jackknife error */
  readonly error: Float64Array;
  /** PRAV's shares learned on the other folds */
  readonly share: Float64Array;
}

/**
 * Placebo-Referenced Attribution Validation. Arrays have one entry per channel; paid-only figures are 0 for baseline
 * channels.
 */
export interface PravResult extends ChannelCredits {
  readonly ok: true;
  readonly model: 'prav';
  /**
   * `plain`: lift over person-time, touch by touch; `joint`: overlapping touches told apart, from 5,000 users and 300
   * conversions on
   */
  readonly estimator: 'plain' | 'joint';
  /** first event of any user, and end of the estimation window, seconds since the epoch */
  readonly dataStartS: number;
  readonly estimationEndS: number;
  /** how long touches are followed */
  readonly horizonS: number;
  /** conversions per excess unpaid visit of users who were not moved by an advertisement */
  readonly kappa: number;
  /** lift / pull of each baseline channel with at least 30 exposures and S > 0 */
  readonly kappaByBaseline: readonly { readonly channel: number; readonly kappa: number }[];
  /** the κ at which the upper and the lower end of the identification interval are taken */
  readonly kappaRange: readonly [low: number, high: number];
  /** baseline rates: conversions per horizon, unpaid visits per placebo window */
  readonly y0: number;
  readonly v0: number;
  readonly averageOrderValue: number;
  /** exposures with full follow-up */
  readonly exposures: Float64Array;
  /** conversions within the horizon of such an exposure, on average */
  readonly conversionsAfter: Float64Array;
  /** unpaid visits on either side of the channel's touches */
  readonly flanks: readonly ChannelFlanks[];
  /** touches in the requested range */
  readonly touches: Float64Array;
  /** lift over baseline per touch */
  readonly lift: Float64Array;
  /** pull on unpaid visits per touch */
  readonly pull: Float64Array;
  /** unpaid visits that a touch itself brings, already taken off `pull` (joint estimator only) */
  readonly halo: Float64Array;
  /**
   * joint estimate: κ over that of the placebos, 0.1 to 1; below 1 where paid channels would fall below 0 and differ by
   * more than chance, or the two readings of κ do
   */
  readonly restraint: number;
  /** joint estimate: the part, 0 to 1, of the total that is claimed; below 1 where an error of κ could make as much */
  readonly claimed: number;
  /**
   * joint estimate: how effects wear off, and by what factor the whole effect exceeds that within the horizon (lift,
   * pull and effect contain it)
   */
  readonly adStock: { readonly ratio: number; readonly beyond: number } | null;
  /** placebo-adjusted effect per touch; 0 for baseline channels */
  readonly effect: Float64Array;
  readonly signedRevenue: Float64Array;
  readonly standardError: Float64Array;
  readonly intervalLow: Float64Array;
  readonly intervalHigh: Float64Array;
  /** the interval of the signed revenue, not cut at 0; 0 for baseline channels */
  readonly signedLow: Float64Array;
  readonly signedHigh: Float64Array;
  /** total incremental revenue and its jackknife error */
  readonly total: number;
  readonly totalStandardError: number;
  /** conversions and revenue of the requested range, with or without touches */
  readonly rangeConversions: number;
  readonly rangeRevenue: number;
  /** jackknife replicates of the incremental revenue (groups × K, row-major) */
  readonly replicates: Float64Array;
  readonly groups: number;
  /** incremental revenue at the two ends of kappaRange: at the high κ, at the low κ */
  readonly revenueAtKappaHigh: Float64Array;
  readonly revenueAtKappaLow: Float64Array;
  /** incremental revenue if nothing of what follows touches were selection (κ = 0) */
  readonly revenueOfLift: Float64Array;
  readonly folds: PravFolds;
  /** how each channel's credit falls to the segments of each segmentation that was given, in their order */
  readonly segments: readonly PravSegments[];
  readonly warnings: readonly string[];
}

/** Sums per segment (a campaign, a period, or both) and channel, segments × K, row-major. */
export interface PravSegments {
  readonly count: number;
  readonly touches: Float64Array;
  /**
   * share of the channel's credit that belongs to the segment; each channel's column sums to 1, or 0 without touches
   */
  readonly split: Float64Array;
}
