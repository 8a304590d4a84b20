import { readFileSync } from 'node:fs';
import type { AttributionReport, ReportedChannel } from '../../../processes/report/attribution-report.ts';

/** A completed causal attribution; see fixtures/README.md for where its figures come from. */
export const CAUSAL = JSON.parse(
  readFileSync(new URL('fixtures/causal-result.json', import.meta.url), 'utf8'),
) as AttributionReport;

/** The same attribution with other members. */
export function withMembers(members: Partial<AttributionReport>): AttributionReport {
  return { ...CAUSAL, ...members };
}

/** The same attribution with one channel changed. */
export function withChannel(name: string, changes: Partial<ReportedChannel>): AttributionReport {
  return withMembers({
    channel_impact: CAUSAL.channel_impact.map((channel) =>
      channel.channel === name ? { ...channel, ...changes } : channel,
    ),
  });
}

/** A path model's answer: unpaid channels are credited too, nothing has an interval. */
export function pathModelReport(): AttributionReport {
  const credits = CAUSAL.comparison['linear']!;
  return withMembers({
    model: 'shapley',
    methodology: 'shapley',
    confidence: null,
    baseline_revenue: CAUSAL.unattributed_revenue,
    channel_impact: CAUSAL.channel_impact.map((channel) => ({
      ...channel,
      attributed_revenue: credits[channel.channel]!,
      confidence: null,
      confidence_interval: null,
    })),
  });
}
