import type { AttributionReport, ReportedChannel } from './attribution-report.ts';

/** Whether anything can be said of what the channel brought. */
export const isMeasurable = ({ identification }: Pick<ReportedChannel, 'identification'>): boolean =>
  identification?.status !== 'none';

/** Paid channels, the most credited first; ties by name. */
export function paidChannels(report: AttributionReport): readonly ReportedChannel[] {
  return report.channel_impact
    .filter((channel) => !channel.is_baseline)
    .toSorted((a, b) => b.attributed_revenue - a.attributed_revenue || (a.channel < b.channel ? -1 : 1));
}

/** Unpaid channels; ordered like the paid ones. */
export function baselineChannels(report: AttributionReport): readonly ReportedChannel[] {
  return report.channel_impact
    .filter((channel) => channel.is_baseline)
    .toSorted((a, b) => b.attributed_revenue - a.attributed_revenue || (a.channel < b.channel ? -1 : 1));
}
