import type { AttributionRecord, CampaignImpact, TimeSeriesPoint } from './attribution-types.ts';
import { isUnmeasurable } from './figures.ts';
import type { AnalysisFigures, CampaignFigures, ChannelFigures, TimeSeriesFigures } from './figures.ts';

/** Whether the answer shows a channel. */
export type ChannelFilter = (channel: string) => boolean;

type ModelShares = NonNullable<AttributionRecord['modelBreakdown']>[number];
type RuleRevenue = NonNullable<AttributionRecord['comparison']>[number];

/** The stored shares as one entry per model. */
export function presentModels(models: AnalysisFigures['modelBreakdown'], isShown: ChannelFilter): ModelShares[] {
  return Object.entries(models).map(([model, byChannel]) => ({
    model: model as ModelShares['model'],
    shares: shownIn(byChannel, isShown).map(([channel, share]) => ({ channel, share })),
  }));
}

/** The stored revenue as one entry per rule. */
export function presentRules(rules: AnalysisFigures['comparison'], isShown: ChannelFilter): RuleRevenue[] {
  return Object.entries(rules).map(([rule, byChannel]) => ({
    rule: rule as RuleRevenue['rule'],
    channels: shownIn(byChannel, isShown).map(([channel, revenue]) => ({ channel, revenue })),
  }));
}

function shownIn<Value>(byChannel: Readonly<Record<string, Value>>, isShown: ChannelFilter): [string, Value][] {
  return Object.entries(byChannel).filter(([channel]) => isShown(channel));
}

/** The stored columns as one point per period. */
export function presentTimeSeries(figures: TimeSeriesFigures, isShown: ChannelFilter): TimeSeriesPoint[] {
  const channels = figures.channels.filter(({ channel }) => isShown(channel));
  return figures.periods.map(({ start, partial }, index) => ({
    periodStart: start,
    partial,
    revenue: figures.revenueCents[index]! / 100,
    baselineRevenue: figures.baselineRevenueCents[index]! / 100,
    channels: Object.fromEntries(
      channels.map(({ channel, attributedRevenueCents }) => [channel, attributedRevenueCents[index]! / 100]),
    ),
  }));
}

/**
 * The stored campaigns with what follows from their figures; `channels` are those of the analysis: what cannot be
 * measured of a channel has no return in its campaigns either.
 */
export function presentCampaigns(
  figures: readonly CampaignFigures[],
  channels: readonly ChannelFigures[],
  isShown: ChannelFilter,
): CampaignImpact[] {
  const unknown = new Set(channels.filter(isUnmeasurable).map(({ channel }) => channel));
  return figures
    .filter(({ channel }) => isShown(channel))
    .map(({ channel, campaign, spend, touches, attributedRevenueCents, lastclickRevenueCents }) => {
      const attributedRevenue = attributedRevenueCents / 100;
      const hasReturn = spend > 0 && !unknown.has(channel);
      return {
        channel,
        campaign,
        spend,
        touches,
        attributedRevenue,
        lastclickRevenue: lastclickRevenueCents / 100,
        deltaR: (attributedRevenueCents - lastclickRevenueCents) / 100,
        roi: hasReturn ? (attributedRevenue - spend) / spend : null,
        roas: hasReturn ? attributedRevenue / spend : null,
      };
    });
}
