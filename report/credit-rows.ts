import type { AttributionReport, ReportedChannel } from './attribution-report.ts';
import { baselineChannels, isMeasurable, paidChannels } from './shown-channels.ts';
import { profitOf } from './margin.ts';
import { totalImpact } from './total-impact.ts';

/** One line of the credit table. Money in major units; null = does not apply. */
export interface CreditRow {
  readonly kind: 'channel' | 'marketing' | 'baseline' | 'total';
  readonly label: string;
  readonly spend: number | null;
  readonly lastClick: number;
  readonly credited: number;
  readonly interval: { readonly lower: number; readonly upper: number } | null;
  readonly roas: number | null;
  /** What is left after goods and spend, and per unit of spend; null also where there is no margin. */
  readonly profit: number | null;
  readonly profitRoas: number | null;
  readonly confidence: number | null;
  /** How far the rows pin the channel's effect down; null where nothing is said. */
  readonly identified: 'point' | 'partial' | 'none' | null;
}

/**
 * The table: each paid channel, all marketing, the baseline, the total. Both columns of revenue sum to the revenue
 * of the run: what no channel is credited with stands in the baseline. Path models credit the unpaid channels too;
 * then these have rows of their own, and the last baseline row holds the orders without any touch.
 */
export function creditRows(report: AttributionReport): readonly CreditRow[] {
  const paid = paidChannels(report);
  const unpaid = baselineChannels(report);
  const spend = sum(paid, (channel) => channel.spend);
  // Credit stands against what it was bought with: spend that cannot be measured would count as lost.
  const measuredSpend = sum(paid.filter(isMeasurable), (channel) => channel.spend);
  const marketing = {
    spend,
    lastClick: sum(paid, (channel) => channel.lastclick_revenue),
    credited: sum(paid, (channel) => channel.attributed_revenue),
  };
  const profit = profitOf(report, marketing.credited, null, measuredSpend);
  const credited = unpaid.some((channel) => channel.attributed_revenue > 0);
  const named = credited ? unpaid.map(channelRow) : [];
  const rest: CreditRow = {
    kind: 'baseline',
    label: restOf(report, credited),
    spend: null,
    lastClick: report.revenue - marketing.lastClick - sum(named, (row) => row.lastClick),
    credited: report.revenue - marketing.credited - sum(named, (row) => row.credited),
    interval: null,
    roas: null,
    profit: null,
    profitRoas: null,
    confidence: null,
    identified: null,
  };
  return [
    ...paid.map(channelRow),
    {
      kind: 'marketing',
      label: 'all marketing',
      ...marketing,
      interval: totalImpact(report).interval,
      roas: measuredSpend > 0 ? marketing.credited / measuredSpend : null,
      profit: profit?.amount ?? null,
      profitRoas: profit?.roas ?? null,
      confidence: report.confidence,
      identified: null,
    },
    ...named,
    ...(credited && Math.abs(rest.credited) < 0.005 && Math.abs(rest.lastClick) < 0.005 ? [] : [rest]),
    {
      kind: 'total',
      label: 'total',
      spend,
      lastClick: report.revenue,
      credited: report.revenue,
      interval: null,
      roas: null,
      profit: null,
      profitRoas: null,
      confidence: null,
      identified: null,
    },
  ];
}

/** What the revenue beyond the rows above is called. */
function restOf({ channels }: AttributionReport, isUnpaidCredited: boolean): string {
  if (channels != null) return 'baseline and other channels';
  return isUnpaidCredited ? 'no touch recorded' : 'baseline';
}

function channelRow(channel: ReportedChannel): CreditRow {
  return {
    kind: channel.is_baseline ? 'baseline' : 'channel',
    label: channel.channel,
    spend: channel.is_baseline && channel.spend === 0 ? null : channel.spend,
    lastClick: channel.lastclick_revenue,
    credited: channel.attributed_revenue,
    interval: channel.confidence_interval,
    roas: channel.roas,
    profit: channel.profit ?? null,
    profitRoas: channel.profit_roas ?? null,
    confidence: channel.is_baseline || channel.identification?.status === 'none' ? null : channel.confidence,
    identified: channel.identification?.status ?? null,
  };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  // Through cents: the published amounts are cents, and sums of them must not show binary dust.
  return Math.round(items.reduce((total, item) => total + of(item) * 100, 0)) / 100;
}
