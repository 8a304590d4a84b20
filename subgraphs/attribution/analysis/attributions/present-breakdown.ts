import type { AttributionRecord, CampaignImpact, TimeSeriesPoint } from './attribution-types.ts';
import type { AnalysisFigures, CampaignFigures, TimeSeriesFigures } from './figures.ts';

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

/** The stored campaigns with what follows from their figures. */
export function presentCampaigns(figures: readonly CampaignFigures[], isShown: ChannelFilter): CampaignImpact[] {
  return figures
    .filter(({ channel }) => isShown(channel))
    .map(({ channel, campaign, spend, touches, attributedRevenueCents, lastclickRevenueCents }) => {
      const attributedRevenue = attributedRevenueCents / 100;
      return {
        channel,
        campaign,
        spend,
        touches,
        attributedRevenue,
        lastclickRevenue: lastclickRevenueCents / 100,
        deltaR: (attributedRevenueCents - lastclickRevenueCents) / 100,
        roi: spend > 0 ? (attributedRevenue - spend) / spend : null,
        roas: spend > 0 ? attributedRevenue / spend : null,
      };
    });
}
