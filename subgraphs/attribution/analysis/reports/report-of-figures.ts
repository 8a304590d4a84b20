import { DEFAULT_POWER } from '../../../../schema/contract/experiment-designs.ts';
import { roundHalfUp } from '../../../../schema/rounding.ts';
import type {
  AnalysisFigures,
  ConfidenceInterval,
  ExperimentCalibration,
  SpendResponseFigures,
} from '../attributions/figures.ts';
import { designsOfFigures } from '../designs/designs-of-figures.ts';
import { groupName } from '../experiments/channel-group.ts';
import { shownModels, shownTests } from '../attributions/model-diagnostics.ts';
import { presentFigures } from '../attributions/present-attribution.ts';
import { presentCampaigns, presentTimeSeries, type ChannelFilter } from '../attributions/present-breakdown.ts';
import type {
  AttributionReport,
  ReportedCampaign,
  ReportedChannel,
  ReportedDesigns,
  ReportedExperiment,
  ReportedPeriod,
  ReportedTest,
  ReportedTrust,
} from '../../../../report/attribution-report.ts';

type Test = NonNullable<AnalysisFigures['diagnostics']['tests']>[number];

/** What the figures do not know of their run. */
export interface RunFacts {
  readonly model: string;
  readonly granularity: string;
  readonly dateRange: readonly [string, string];
  readonly lookbackDays: number;
  readonly confidenceLevel: number;
  readonly createdAt: Date;
  /** Absent where it is told apart from the report. */
  readonly trust?: ReportedTrust;
  /** The channels that are shown; null or absent for all. */
  readonly channels?: readonly string[] | null;
}

/** The figures of an analysis in the REST door's names and roundings: money 2 decimals, ratios 4. */
export function reportOfFigures(figures: AnalysisFigures, facts: RunFacts): AttributionReport {
  const { diagnostics } = figures;
  const { channels: shown = null } = facts;
  const isShown: ChannelFilter = (channel) => shown === null || shown.includes(channel);
  return {
    model: facts.model,
    date_range: facts.dateRange,
    currency: figures.currency,
    channels: shown,
    channel_impact: channelImpact(figures).filter(({ channel }) => isShown(channel)),
    methodology: figures.methodology,
    confidence: ratio(figures.confidence),
    confidence_level: facts.confidenceLevel,
    created_at: facts.createdAt.toISOString(),
    conversions: figures.conversions,
    revenue: figures.revenueCents / 100,
    baseline_revenue: figures.baselineRevenueCents / 100,
    unattributed_revenue: figures.unattributedRevenueCents / 100,
    lookback_window_days: facts.lookbackDays,
    revenue_lastclick_cents: figures.revenueLastclickCents,
    revenue_causal_cents: figures.revenueCausalCents,
    delta_r_cents: figures.deltaRCents,
    delta_r_net_cents: figures.deltaRNetCents,
    ...(facts.trust !== undefined && { trust: facts.trust }),
    ...(figures.dataQuality !== undefined && { data_quality: figures.dataQuality }),
    ...(figures.profitability !== undefined && { profitability: figures.profitability }),
    model_breakdown: roundEach(figures.modelBreakdown, 4, isShown),
    comparison: roundEach(figures.comparison, 2, isShown),
    granularity: facts.granularity,
    time_series: timeSeries(figures, isShown),
    campaigns: campaigns(figures, isShown),
    ...(figures.holdoutWindows !== undefined && {
      experiment_designs: designs(figures, facts.dateRange, isShown),
    }),
    diagnostics: {
      journeys: diagnostics.journeys,
      converting_journeys: diagnostics.convertingJourneys,
      touches: diagnostics.touches,
      elapsed_ms: diagnostics.elapsedMs,
      run_digest: diagnostics.runDigest,
      warnings: diagnostics.warnings,
      ...(diagnostics.tests !== undefined && {
        tests: shownTests(diagnostics.tests, isShown).map(reportedTest),
      }),
      models: shownModels(diagnostics.models),
      experiments: (figures.calibrations ?? []).map(reportedExperiment),
      ...(diagnostics.customers !== undefined && { customers: reportedCustomers(diagnostics.customers, isShown) }),
      ...(diagnostics.stitching !== undefined && { stitching: reportedStitching(diagnostics.stitching) }),
    },
  };
}

function reportedCustomers(
  found: NonNullable<AnalysisFigures['diagnostics']['customers']>,
  isShown: (channel: string) => boolean,
) {
  const group = ({ orders, revenue }: typeof found.new) => ({ orders, revenue: money(revenue) });
  return {
    new: group(found.new),
    returning: group(found.returning),
    unknown: group(found.unknown),
    channels: found.channels
      .filter(({ channel }) => isShown(channel))
      .map(({ channel, orders, newOrders }) => ({ channel, orders, new_orders: newOrders })),
  };
}

function reportedStitching(found: NonNullable<AnalysisFigures['diagnostics']['stitching']>) {
  const { pairs, people, userMatchRate, stitchedUserMatchRate } = found;
  return {
    pairs,
    people,
    user_match_rate: ratio(userMatchRate),
    stitched_user_match_rate: ratio(stitchedUserMatchRate),
  };
}

function channelImpact(figures: AnalysisFigures): readonly ReportedChannel[] {
  return presentFigures(figures).map((impact) => ({
    channel: impact.channel,
    is_baseline: impact.isBaseline,
    spend: money(impact.spend),
    attributed_revenue: money(impact.attributedRevenue),
    lastclick_revenue: money(impact.lastclickRevenue),
    delta_r: money(impact.deltaR),
    conversions: roundHalfUp(impact.conversions, 4) ?? 0,
    share: ratio(impact.share) ?? 0,
    roas: ratio(impact.roas),
    roi: ratio(impact.roi),
    causal_lift: ratio(impact.causalLift),
    confidence: ratio(impact.confidence),
    confidence_interval: impact.confidenceInterval === null ? null : roundedInterval(impact.confidenceInterval),
    rank: impact.rank,
    ...(impact.profit !== undefined && {
      profit: impact.profit === null ? null : money(impact.profit),
      profit_interval: impact.profitInterval == null ? null : roundedInterval(impact.profitInterval),
      profit_roas: ratio(impact.profitRoas ?? null),
    }),
    ...(impact.identification !== undefined && { identification: impact.identification }),
    ...(impact.spendResponse !== undefined && { spend_response: spendResponse(impact.spendResponse) }),
  }));
}

function spendResponse({ incrementalRevenue, confidenceInterval, pValue }: SpendResponseFigures) {
  return {
    incremental_revenue: money(incrementalRevenue),
    confidence_interval: roundedInterval(confidenceInterval),
    p_value: ratio(pValue) ?? 0,
  };
}

function reportedTest({ estimate, interval, threshold, ...test }: Test): ReportedTest {
  return {
    ...test,
    estimate: ratio(estimate),
    interval:
      interval === null
        ? null
        : { lower: ratio(interval.lower)!, upper: ratio(interval.upper)!, level: ratio(interval.level)! },
    threshold: ratio(threshold),
  };
}

function reportedExperiment(calibration: ExperimentCalibration): ReportedExperiment {
  const {
    id,
    channel,
    channels,
    method,
    period,
    incrementalRevenue,
    standardError,
    overlap,
    modelIncrementalRevenueBefore: before,
    modelIncrementalRevenueAfter: after,
  } = calibration;
  return {
    id,
    channel,
    ...(channels !== undefined && { channels }),
    method,
    period,
    incremental_revenue: money(incrementalRevenue),
    standard_error: money(standardError),
    overlap: ratio(overlap) ?? 0,
    model_incremental_revenue_before: money(before),
    model_incremental_revenue_after: money(after),
  };
}

function designs(
  figures: AnalysisFigures,
  [start, end]: RunFacts['dateRange'],
  isShown: ChannelFilter,
): ReportedDesigns {
  const { designs: found, warnings } = designsOfFigures(figures, { start, end }, DEFAULT_POWER);
  return {
    power: DEFAULT_POWER,
    designs: found
      .filter(({ channels }) => channels.every(isShown))
      .map(({ channels, decision, ...design }) => ({
        channel: groupName(channels),
        channels,
        method: 'holdout',
        share_held_out: design.shareHeldOut,
        duration_days: design.durationDays,
        smallest_detectable_effect: money(design.smallestDetectableEffect),
        expected_standard_error: money(design.expectedStandardError),
        lost_revenue: money(design.lostRevenue),
        decision: {
          current_interval: decision.currentInterval === null ? null : roundedInterval(decision.currentInterval),
          breakeven_revenue: money(decision.breakevenRevenue),
          value_of_information: money(decision.valueOfInformation),
        },
        rank: design.rank,
      })),
    warnings,
  };
}

function timeSeries({ timeSeries: series }: AnalysisFigures, isShown: ChannelFilter): readonly ReportedPeriod[] | null {
  if (series == null) return null;
  return presentTimeSeries(series, isShown).map(({ periodStart, partial, revenue, baselineRevenue, channels }) => ({
    period_start: periodStart,
    partial,
    revenue,
    baseline_revenue: baselineRevenue,
    channels,
  }));
}

function campaigns(
  { campaigns: figures, channels }: AnalysisFigures,
  isShown: ChannelFilter,
): readonly ReportedCampaign[] | null {
  if (figures == null) return null;
  return presentCampaigns(figures, channels, isShown).map(
    ({ channel, campaign, spend, touches, attributedRevenue, lastclickRevenue, deltaR, roi, roas }) => ({
      channel,
      campaign,
      spend: money(spend),
      touches,
      attributed_revenue: attributedRevenue,
      lastclick_revenue: lastclickRevenue,
      delta_r: deltaR,
      roi: ratio(roi),
      roas: ratio(roas),
    }),
  );
}

const roundedInterval = ({ lower, upper, level }: ConfidenceInterval): ConfidenceInterval => ({
  lower: money(lower),
  upper: money(upper),
  level,
});
const money = (value: number): number => roundHalfUp(value, 2) ?? 0;
const ratio = (value: number | null): number | null => (value === null ? null : roundHalfUp(value, 4));

function roundEach(
  table: Readonly<Record<string, Readonly<Record<string, number>>>>,
  digits: number,
  isShown: ChannelFilter,
): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const rounded = Object.entries(table).map(([name, row]) => [
    name,
    Object.fromEntries(
      Object.entries(row).flatMap(([channel, value]) =>
        isShown(channel) ? [[channel, roundHalfUp(value, digits) ?? 0]] : [],
      ),
    ),
  ]);
  return Object.fromEntries(rounded) as Readonly<Record<string, Readonly<Record<string, number>>>>;
}
