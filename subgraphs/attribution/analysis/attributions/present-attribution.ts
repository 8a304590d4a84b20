import { publicId } from '../../../../platform/identifiers.ts';
import { type TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { isFinished, isRefreshing } from '../../runs/run.ts';
import type { Attribution } from './attribution.ts';
import type { AttributionRecord, ChannelImpact } from './attribution-types.ts';
import { isUnmeasurable } from './figures.ts';
import type { AnalysisFigures, ChannelFigures } from './figures.ts';
import { shownModels, shownTests } from './model-diagnostics.ts';
import { presentCampaigns, presentModels, presentRules, presentTimeSeries } from './present-breakdown.ts';
import { presentTrust, type SourceNow } from './present-trust.ts';
import { publicationOf, type Publication } from './published-figures.ts';
import type { TrustEvidence } from './trust-evidence.ts';

/** Largest uplift that is published. */
const MAX_LIFT = 10;

/**
 * The stored analysis as the graph shows it. Restricting `channels` hides the others; totals stay those of the shop.
 */
export function presentAttribution(
  attribution: Attribution,
  progress: number,
  now: Date,
  apiVersion: string,
  sourceNow: SourceNow | null = null,
  { status, figures, failure }: Publication = publicationOf(attribution),
): AttributionRecord {
  const shown = attribution.channels ?? null;
  const isShown = (channel: string): boolean => shown === null || shown.includes(channel);
  return {
    id: publicId('attr', attribution.id),
    status,
    model: attribution.model,
    dataSourceId: publicId('ds', attribution.dataSourceId),
    ...(attribution.dataSourceIds != null && {
      dataSourceIds: attribution.dataSourceIds.map((id) => publicId('ds', id)),
    }),
    dateRange: [attribution.dateStart, attribution.dateEnd],
    channelImpact: figures === null ? [] : presentFigures(figures).filter((impact) => isShown(impact.channel)),
    methodology: figures?.methodology ?? attribution.model,
    confidence: figures?.confidence ?? null,
    ...(figures?.dataQuality !== undefined && { dataQuality: figures.dataQuality }),
    ...(figures?.profitability !== undefined && { profitability: figures.profitability }),
    createdAt: attribution.createdAt,
    completedAt: attribution.completedAt ?? null,
    granularity: attribution.granularity,
    channels: shown,
    currency: figures?.currency ?? null,
    environment: attribution.environment,
    autoRefresh: attribution.autoRefresh,
    revision: attribution.revision,
    conversions: figures?.conversions ?? null,
    revenue: money(figures, 'revenueCents'),
    baselineRevenue: money(figures, 'baselineRevenueCents'),
    unattributedRevenue: money(figures, 'unattributedRevenueCents'),
    lookbackWindowDays: attribution.lookbackWindowDays,
    conversionEvent: attribution.conversionEvent,
    confidenceLevel: attribution.confidenceLevel,
    revenueLastclickCents: figures?.revenueLastclickCents ?? null,
    revenueCausalCents: figures?.revenueCausalCents ?? null,
    deltaRCents: figures?.deltaRCents ?? null,
    deltaRNetCents: figures?.deltaRNetCents ?? null,
    modelBreakdown: figures === null ? null : presentModels(figures.modelBreakdown, isShown),
    comparison: figures === null ? null : presentRules(figures.comparison, isShown),
    timeSeries: figures?.timeSeries == null ? null : presentTimeSeries(figures.timeSeries, isShown),
    campaigns: figures?.campaigns == null ? null : presentCampaigns(figures.campaigns, figures.channels, isShown),
    diagnostics: figures === null ? null : presentDiagnostics(figures, isShown),
    progress: isFinished(attribution) ? 1 : progress,
    failure,
    agentId: attribution.agentId == null ? null : publicId('agent', attribution.agentId),
    workspaceId: attribution.workspaceId == null ? null : publicId('ws', attribution.workspaceId),
    // The signature is of a completed result; while a refresh is under way it would vouch for another state.
    signature: figures === null || isRefreshing(attribution) ? null : (attribution.signature ?? null),
    trust: trustOf(figures, attribution.trust ?? null, sourceNow, now, apiVersion),
  };
}

function presentDiagnostics(
  { diagnostics: { tests, customers, ...diagnostics }, calibrations }: AnalysisFigures,
  isShown: (channel: string) => boolean,
) {
  return {
    ...diagnostics,
    ...(tests !== undefined && { tests: shownTests(tests, isShown) }),
    ...(customers !== undefined && {
      customers: { ...customers, channels: customers.channels.filter(({ channel }) => isShown(channel)) },
    }),
    models: shownModels(diagnostics.models),
    experiments: (calibrations ?? []).map((each) => ({ ...each, channels: each.channels ?? [each.channel] })),
  };
}

/**
 * The record envelope until completed; an estimate whose evidence was not kept has none: nothing is better than
 * invented zeros.
 */
function trustOf(
  figures: AnalysisFigures | null,
  trust: TrustEvidence | null,
  sourceNow: SourceNow | null,
  now: Date,
  apiVersion: string,
): TrustEnvelope | null {
  if (figures === null) return recordEnvelope(1, now, apiVersion);
  return trust === null
    ? null
    : presentTrust(trust, figures, sourceNow ?? { source: null, changedDays: new Set() }, now, apiVersion);
}

/** The channels of a completed analysis, as {@link presentChannels} shows them, with profits where it has a margin. */
export const presentFigures = ({ channels, revenueCents, profitability }: AnalysisFigures): ChannelImpact[] =>
  presentChannels(channels, revenueCents, profitability?.margin);

/** Channel figures as the contract shows them, highest attributed revenue first, ties by name. */
export function presentChannels(
  channels: readonly ChannelFigures[],
  revenueCents: number,
  margin?: number,
): ChannelImpact[] {
  return channels
    .toSorted((a, b) => b.attributedRevenueCents - a.attributedRevenueCents || a.channel.localeCompare(b.channel, 'en'))
    .map((figures, index) => {
      const attributedRevenue = figures.attributedRevenueCents / 100;
      const hasReturn = figures.spend > 0 && !isUnmeasurable(figures);
      const counterfactualCents = revenueCents - figures.attributedRevenueCents;
      return {
        channel: figures.channel,
        causalLift:
          counterfactualCents > 0
            ? Math.min(MAX_LIFT, figures.attributedRevenueCents / counterfactualCents)
            : figures.attributedRevenueCents > 0
              ? MAX_LIFT
              : null,
        roi: hasReturn ? (attributedRevenue - figures.spend) / figures.spend : null,
        roas: hasReturn ? attributedRevenue / figures.spend : null,
        spend: figures.spend,
        attributedRevenue,
        incrementalRevenue: figures.isBaseline ? 0 : attributedRevenue,
        confidence: figures.confidence,
        confidenceInterval: figures.confidenceInterval,
        lastclickRevenue: figures.lastclickRevenueCents / 100,
        deltaR: (figures.attributedRevenueCents - figures.lastclickRevenueCents) / 100,
        conversions: figures.conversions,
        share: figures.share,
        rank: index + 1,
        isBaseline: figures.isBaseline,
        ...(margin !== undefined && !figures.isBaseline && profitOf(figures, margin)),
        ...(figures.identification != null && { identification: figures.identification }),
        ...(figures.spendResponse !== undefined && { spendResponse: figures.spendResponse }),
      };
    });
}

/** What is left of the credit after the cost of the goods and of the channel. */
function profitOf(
  channel: ChannelFigures,
  margin: number,
): Pick<ChannelImpact, 'profit' | 'profitInterval' | 'profitRoas'> {
  if (isUnmeasurable(channel)) return { profit: null, profitInterval: null, profitRoas: null };
  const { spend, confidenceInterval: interval } = channel;
  const kept = (revenue: number): number => margin * revenue - spend;
  const earned = (margin * channel.attributedRevenueCents) / 100;
  return {
    profit: earned - spend,
    profitInterval:
      interval === null ? null : { lower: kept(interval.lower), upper: kept(interval.upper), level: interval.level },
    profitRoas: spend > 0 ? earned / spend : null,
  };
}

function money(
  figures: AnalysisFigures | null,
  member: 'revenueCents' | 'baselineRevenueCents' | 'unattributedRevenueCents',
): number | null {
  return figures === null ? null : figures[member] / 100;
}
