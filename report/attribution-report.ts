/** One channel of a completed attribution, as the REST door presents it. Money in major units. */
export interface ReportedChannel {
  readonly channel: string;
  readonly is_baseline: boolean;
  readonly spend: number;
  readonly attributed_revenue: number;
  readonly lastclick_revenue: number;
  /** attributed − last click, signed. */
  readonly delta_r: number;
  readonly conversions: number;
  /** In [0, 1]. */
  readonly share: number;
  /** Null without spend. */
  readonly roas: number | null;
  readonly roi: number | null;
  /** Uplift against the counterfactual without the channel; null where there is nothing to compare with. */
  readonly causal_lift: number | null;
  /** In [0, 1]; null for a model that has none. */
  readonly confidence: number | null;
  readonly confidence_interval: { readonly lower: number; readonly upper: number; readonly level: number } | null;
  readonly rank: number;
  /**
   * Of paid channels where there is a margin, absent otherwise: margin × credit − spend, and margin × credit / spend.
   * Null where not measurable, the second also without spend.
   */
  readonly profit?: number | null;
  readonly profit_interval?: ReportedChannel['confidence_interval'];
  readonly profit_roas?: number | null;
  /** How far the rows pin the effect down; null for unpaid channels, null or absent where nothing is said. */
  readonly identification?: {
    readonly status: 'point' | 'partial' | 'none';
    readonly reasons: readonly { readonly code: string; readonly message: string }[];
  } | null;
  /** What revenue did over time when spend without touches moved; null or absent where nothing is seen. */
  readonly spend_response?: {
    readonly incremental_revenue: number;
    readonly confidence_interval: { readonly lower: number; readonly upper: number; readonly level: number };
    readonly p_value: number;
  } | null;
}

/** An experiment beside what the model said without it and says with it. Money in major units, for the range. */
export interface ReportedExperiment {
  readonly id: string;
  /** Several by what they are called together. */
  readonly channel: string;
  /** The channels that were kept away together; absent for one. */
  readonly channels?: readonly string[];
  readonly method: string;
  readonly period: readonly [string, string];
  readonly incremental_revenue: number;
  readonly standard_error: number;
  /** In (0, 1]. */
  readonly overlap: number;
  readonly model_incremental_revenue_before: number;
  readonly model_incremental_revenue_after: number;
}

/** Orders, and their revenue in major units. */
export interface ReportedOrders {
  readonly orders: number;
  readonly revenue: number;
}

/** An experiment that would settle what channels bring. Money in major units, of the whole shop. */
export interface ReportedDesign {
  /** Several by what they are called together. */
  readonly channel: string;
  readonly channels: readonly string[];
  readonly method: string;
  /** In (0, 1). */
  readonly share_held_out: number;
  readonly duration_days: number;
  /** These three in the days of the test. */
  readonly smallest_detectable_effect: number;
  readonly expected_standard_error: number;
  readonly lost_revenue: number;
  readonly decision: {
    readonly current_interval: ReportedChannel['confidence_interval'];
    /** What pays for the spend of the range: the spend, divided by the margin where there is one. */
    readonly breakeven_revenue: number;
    /** Over the year behind the test, less lost revenue; may be negative. */
    readonly value_of_information: number;
  };
  readonly rank: number;
}

/** The most valuable first; `warnings` says what none can be made for. */
export interface ReportedDesigns {
  /** In (0, 1). */
  readonly power: number;
  readonly designs: readonly ReportedDesign[];
  readonly warnings: readonly string[];
}

/** One thing that was tried on the data; units by code. */
export interface ReportedTest {
  readonly code: string;
  /** Null where it concerns all. */
  readonly channel: string | null;
  readonly status: 'pass' | 'fail' | 'not_applicable';
  readonly estimate: number | null;
  readonly interval: { readonly lower: number; readonly upper: number; readonly level: number } | null;
  readonly threshold: number | null;
  readonly message: string;
}

/** The credit of one period. Money in major units. */
export interface ReportedPeriod {
  /** First day of the whole period, `YYYY-MM-DD`. */
  readonly period_start: string;
  /** The range covers a part of it only. */
  readonly partial: boolean;
  readonly revenue: number;
  readonly baseline_revenue: number;
  /** Attributed revenue. */
  readonly channels: Readonly<Record<string, number | null>>;
}

/** What one campaign of a channel is credited with. */
export interface ReportedCampaign {
  readonly channel: string;
  /** Null for what names none. */
  readonly campaign: string | null;
  readonly spend: number;
  readonly touches: number;
  readonly attributed_revenue: number;
  readonly lastclick_revenue: number;
  readonly delta_r: number;
  /** Null without spend. */
  readonly roi: number | null;
  readonly roas: number | null;
}

/**
 * How far the figures can be trusted, as far as that can be known without a service: nobody keeps the files or their
 * source.
 */
export interface ReportedTrust {
  /** Of what was measured, in [0, 1]; 0 is perfect trust. */
  readonly hrei_score: number;
  readonly risk_level: string;
  /** Score and metrics of each component that was measured. */
  readonly components: Readonly<Record<string, unknown>>;
  readonly classifications: readonly string[];
  readonly verification: {
    readonly ground_truth_source: string;
    readonly claims_verified: number;
    readonly claims_total: number;
  };
  readonly not_measured: readonly string[];
}

/** What is wrong with the rows that the figures rest on; what is blocking was accepted. Money in major units. */
export interface ReportedQuality {
  readonly status: 'good' | 'warning' | 'blocking';
  /** The worst first. */
  readonly checks: readonly {
    readonly code: string;
    readonly severity: 'info' | 'warning' | 'blocking';
    readonly value: number;
    readonly threshold: number;
    readonly amount: number | null;
    readonly currency: string | null;
    readonly message: string;
    readonly remedy: string;
  }[];
}

/** The members of a completed AttributionResult that a report reads. */
export interface AttributionReport {
  readonly model: string;
  /** First and last day, `YYYY-MM-DD`, both inclusive. */
  readonly date_range: readonly [string, string];
  readonly currency: string;
  /** The channels that it was restricted to; null or absent where all are shown. */
  readonly channels?: readonly string[] | null;
  readonly channel_impact: readonly ReportedChannel[];
  readonly methodology: string;
  readonly confidence: number | null;
  readonly confidence_level: number;
  readonly created_at: string;
  readonly conversions: number;
  readonly revenue: number;
  readonly baseline_revenue: number;
  readonly unattributed_revenue: number;
  readonly lookback_window_days: number;
  readonly revenue_lastclick_cents: number;
  readonly revenue_causal_cents: number;
  readonly delta_r_cents: number;
  readonly delta_r_net_cents: number;
  /** Absent where it could not be measured. */
  readonly trust?: ReportedTrust;
  /** How good the rows were; absent where it was not measured. */
  readonly data_quality?: ReportedQuality;
  /** Share of revenue that is left after the cost of goods, in (0, 1]; absent where nobody has said it. */
  readonly profitability?: { readonly margin: number; readonly origin: 'orders' | 'setting' | 'request' };
  /** Share per channel, by model. */
  readonly model_breakdown: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Revenue per channel, by rule. */
  readonly comparison: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly granularity?: string;
  /** Null for aggregated paths. */
  readonly time_series?: readonly ReportedPeriod[] | null;
  /** Of the causal model; absent where nothing was kept to make designs of. */
  readonly experiment_designs?: ReportedDesigns;
  /** The most credited first; null for aggregated paths, or too many campaigns to tell apart. */
  readonly campaigns?: readonly ReportedCampaign[] | null;
  readonly diagnostics: {
    readonly journeys: number;
    readonly converting_journeys: number;
    readonly touches: number;
    readonly elapsed_ms: number;
    readonly run_digest: string;
    readonly warnings: readonly string[];
    readonly models: Readonly<Record<string, unknown>>;
    readonly experiments: readonly ReportedExperiment[];
    /** Of the causal credit; absent in results from before there were any. */
    readonly tests?: readonly ReportedTest[];
    /** Orders of new and of returning customers, money in major units; null or absent where none says which it is. */
    readonly customers?: {
      readonly new: ReportedOrders;
      readonly returning: ReportedOrders;
      readonly unknown: ReportedOrders;
      /** By name: orders with a touch of the channel, those of unknown customers left out. */
      readonly channels: readonly { readonly channel: string; readonly orders: number; readonly new_orders: number }[];
    } | null;
    /** What identities did to the journeys; null or absent where there are none. Rates in [0, 1]. */
    readonly stitching?: {
      readonly pairs: number;
      readonly people: number;
      /** Share of the users of conversions who have a touch; null without conversions. */
      readonly user_match_rate: number | null;
      readonly stitched_user_match_rate: number | null;
    } | null;
  };
}
