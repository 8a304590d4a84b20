import type { z } from 'zod';
import type { diagnostics, experimentCalibration } from '../../../../schema/contract/attribution-diagnostics.ts';
import type {
  confidenceInterval,
  identification,
  spendResponse,
} from '../../../../schema/contract/attribution-impact.ts';
import type { DataQuality } from '../../../../schema/contract/data-quality.ts';
import type { profitability } from '../../../../schema/contract/profitability.ts';
import type { Frozen } from '../../../../schema/contract/frozen.ts';
import type { DesignGround } from '../../../../compute/models/experiment-design/experiment-designs.ts';
import type { COMPARISON_RULES } from '../../../../schema/value-lists.ts';

/** Interval around a figure, in the figure's unit, at confidence `level` (0.95 = 95 %). */
export type ConfidenceInterval = Frozen<z.output<typeof confidenceInterval>>;

/** How far the rows pin a channel's effect down, and why no further. */
export type Identification = Frozen<z.output<typeof identification>>;

/** The margin that profits stand on, and where it was said. */
export type Profitability = Frozen<z.output<typeof profitability>>;

/** What revenue did over time when the spend of a channel moved. */
export type SpendResponseFigures = Frozen<z.output<typeof spendResponse>>;

/** What one channel is credited with. Money in major units of the source's currency. */
export interface ChannelFigures {
  readonly channel: string;
  readonly isBaseline: boolean;
  readonly spend: number;
  /** Cents by largest remainder, so that all channels and the baseline sum to the revenue exactly. */
  readonly attributedRevenueCents: number;
  readonly lastclickRevenueCents: number;
  readonly conversions: number;
  /** Share of the credited total, in [0, 1]. */
  readonly share: number;
  /** In [0, 1]; null until all models have run. */
  readonly confidence: number | null;
  /** Also null where the effect is not measurable. */
  readonly confidenceInterval: ConfidenceInterval | null;
  /** Of paid channels under `causal`; absent in results from before it was said. */
  readonly identification?: Identification | null;
  /** Of spend that leaves no touches, where revenue rose with it; part of no total. */
  readonly spendResponse?: SpendResponseFigures;
}

/** Whether nothing can be said of the channel's effect: it carries no credit, and no figure stands for it. */
export const isUnmeasurable = ({ identification }: Pick<ChannelFigures, 'identification'>): boolean =>
  identification?.status === 'none';

/** A period of the calendar, UTC. */
export interface Period {
  /** First day of the whole period, `YYYY-MM-DD`; ahead of the range where the first period is partial. */
  readonly start: string;
  /** The range covers a part of it only. */
  readonly partial: boolean;
}

/** The credit by period of the calendar, in cents: one entry per period in every list. */
export interface TimeSeriesFigures {
  readonly periods: readonly Period[];
  /** Of the conversions of the period. */
  readonly revenueCents: readonly number[];
  readonly baselineRevenueCents: readonly number[];
  readonly channels: readonly { readonly channel: string; readonly attributedRevenueCents: readonly number[] }[];
}

/** What one campaign of a channel is credited with. */
export interface CampaignFigures {
  readonly channel: string;
  /** Null: touches, clicks and spend of the channel that name no campaign. */
  readonly campaign: string | null;
  /** Major units. */
  readonly spend: number;
  /** In the range. */
  readonly touches: number;
  /** The campaigns of a channel sum to the channel, here and in the next. */
  readonly attributedRevenueCents: number;
  readonly lastclickRevenueCents: number;
}

/** How an analysis went: sizes, convergence, what the reader should know; its experiments stand beside it. */
export type AnalysisDiagnostics = Omit<Frozen<z.output<typeof diagnostics>>, 'experiments'>;

/** What an experiment said of the range, and what that did to the credit of its channel. Money in major units. */
export type ExperimentCalibration = Omit<Frozen<z.output<typeof experimentCalibration>>, 'channels'> & {
  /** Where several were kept away together; absent for one, as in results from before there could be several. */
  readonly channels?: readonly string[];
};

export type ComparisonRule = (typeof COMPARISON_RULES)[number];

/** Everything that an analysis computes; stored as it is, and presented by each door. */
export interface AnalysisFigures {
  readonly currency: string;
  readonly conversions: number;
  readonly revenueCents: number;
  /** What happened without marketing, by this model; revenue that no channel is credited with. */
  readonly baselineRevenueCents: number;
  /** Revenue of conversions without any touchpoint. */
  readonly unattributedRevenueCents: number;
  readonly channels: readonly ChannelFigures[];
  readonly methodology: string;
  readonly confidence: number | null;
  readonly revenueCausalCents: number;
  readonly revenueLastclickCents: number;
  /** Recovered revenue: what last click hid from the channels that it under-credits; never negative. */
  readonly deltaRCents: number;
  /** Signed sum over all paid channels. */
  readonly deltaRNetCents: number;
  /** Share per channel of every model that could run. */
  readonly modelBreakdown: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Revenue per channel by rule, major units. */
  readonly comparison: Readonly<Record<ComparisonRule, Readonly<Record<string, number>>>>;
  /** The experiments that calibrated the causal credit; absent in results from before there were any. */
  readonly calibrations?: readonly ExperimentCalibration[];
  /** Null for aggregated paths, which have no times. Absent in results of releases before there were any. */
  readonly timeSeries?: TimeSeriesFigures | null;
  /** Null for aggregated paths, or too many campaigns to tell apart. Absent as above. */
  readonly campaigns?: readonly CampaignFigures[] | null;
  readonly diagnostics: AnalysisDiagnostics;
  /**
   * Of the causal model: what holdouts of some weeks would stand on. Null for aggregated paths, which know no people.
   * Absent in other results, and those of releases before it was kept. No figure rests on it; `run_digest` leaves it
   * out.
   */
  readonly holdoutWindows?: DesignGround['windows'] | null | undefined;
  /** How good the rows were; absent in results from before it was measured, and no part of the run's digest. */
  readonly dataQuality?: DataQuality;
  /** The margin of the range; absent where nobody has said one. Profits follow from it when they are shown. */
  readonly profitability?: Profitability;
}
