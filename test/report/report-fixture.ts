import { readFileSync } from 'node:fs';
import type { AttributionReport, ReportedChannel, ReportedTest } from '../../report/attribution-report.ts';

/** A completed causal attribution; see fixtures/README.md for where its figures come from. */
export const CAUSAL = JSON.parse(
  readFileSync(new URL('fixtures/causal-result.json', import.meta.url), 'utf8'),
) as AttributionReport;

/** One test that failed, one that passed, and one that could not be made. */
export const TESTS: readonly ReportedTest[] = [
  {
    code: 'held_out_placebo',
    channel: 'direct',
    status: 'fail',
    estimate: 0.1234,
    interval: { lower: 0.08, upper: 0.16, level: 0.975 },
    threshold: 0.098,
    message: 'It would be credited with 12 % of the revenue.',
  },
  {
    code: 'overlap',
    channel: 'retargeting',
    status: 'pass',
    estimate: 0.03,
    interval: null,
    threshold: 0.1,
    message: 'Nearly all have counterparts.',
  },
  {
    code: 'window_halves',
    channel: null,
    status: 'not_applicable',
    estimate: null,
    interval: null,
    threshold: null,
    message: 'The data covers 40 days, and this takes 56.',
  },
];

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
