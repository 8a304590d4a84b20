import { isMeasurable, paidChannels } from './credit-rows.ts';
import { designFinding } from './experiment-designs.ts';
import type { AttributionReport, ReportedChannel } from './attribution-report.ts';

import { numberFormat } from './number-format.ts';

/**
 * Whether the credit is what marketing changed. The path models share out all that happened; so does the causal model
 * where PRAV could not run and published weights combine the path models (`prior-weights`).
 */
export function isIncremental({ model, methodology }: Pick<AttributionReport, 'model' | 'methodology'>): boolean {
  return model === 'prav' || (model === 'causal' && !methodology.split('/').includes('prior-weights'));
}

/** What a reader should take away, in sentences; plain text. Only what the figures say. */
export function findings(report: AttributionReport): readonly string[] {
  const format = numberFormat(report.currency);
  const paid = paidChannels(report).filter(isMeasurable);
  const hidden = largest(paid, (channel) => channel.delta_r);
  const praised = largest(paid, (channel) => -channel.delta_r);
  const harmful = paid.filter((channel) => channel.attributed_revenue < 0);
  const losing = paid.filter(
    (channel) => channel.spend > 0 && channel.attributed_revenue < channel.spend && channel.attributed_revenue >= 0,
  );
  // What a path model credits is not an effect, however sure it is.
  const estimatesEffects = report.model === 'causal' || report.model === 'prav';
  const uncertain = paid.filter(
    (channel) =>
      estimatesEffects &&
      channel.confidence_interval !== null &&
      channel.confidence_interval.lower <= 0 &&
      channel.attributed_revenue > 0,
  );
  const said: string[] = [];
  if (hidden !== undefined && hidden.delta_r > 0) {
    said.push(
      `Last click hides ${hidden.channel} the most: it shows ${format.money(hidden.lastclick_revenue)} of ` +
        `${format.money(hidden.attributed_revenue)}.`,
    );
  }
  if (praised !== undefined && praised.delta_r < 0) {
    const anyway = isIncremental(report)
      ? ' Most of the difference would have been bought anyway, or was earned by another channel.'
      : '';
    said.push(
      `Last click praises ${praised.channel} too much: it shows ${format.money(praised.lastclick_revenue)}, this ` +
        `model credits ${format.money(praised.attributed_revenue)}.${anyway}`,
    );
  }
  // A credit below the cost says little where the interval reaches beyond the cost.
  const surely = losing.filter((channel) => (channel.confidence_interval?.upper ?? 0) < channel.spend);
  const perhaps = losing.filter((channel) => !surely.includes(channel));
  if (harmful.length > 0)
    said.push(
      `${names(harmful)} ${harmful.length === 1 ? 'takes' : 'take'} revenue away: the whole interval lies below 0.`,
    );
  if (surely.length > 0)
    said.push(
      `Below break-even: ${names(surely)}. ${surely.length === 1 ? 'It earns' : 'They earn'} back less revenue than ` +
        `${surely.length === 1 ? 'it costs' : 'they cost'}.`,
    );
  if (perhaps.length > 0)
    said.push(
      `Perhaps below break-even: ${names(perhaps)}. ${perhaps.length === 1 ? 'It is' : 'They are'} credited with ` +
        `less than the spend, but the ${perhaps.length === 1 ? 'interval reaches' : 'intervals reach'} beyond it.`,
    );
  if (uncertain.length > 0) {
    const all = uncertain.length === paid.length && paid.length > 1;
    const whose = all ? 'all channels' : names(uncertain);
    const reach = uncertain.length > 1 ? `The intervals of ${whose} reach` : `The interval of ${whose} reaches`;
    said.push(
      `${reach} zero: on this data, an effect of nothing cannot be ruled out there. A holdout test would tell.`,
    );
  }
  const worthTesting = designFinding(report);
  if (worthTesting !== null) said.push(worthTesting);
  for (const {
    channel,
    method,
    incremental_revenue: measured,
    standard_error: error,
    model_incremental_revenue_before: before,
    model_incremental_revenue_after: after,
  } of report.diagnostics.experiments) {
    said.push(
      `A ${method} experiment says that ${channel} added ${format.money(measured)} ± ${format.money(error)} here; ` +
        `the model alone credited ${format.money(before)}, together they say ${format.money(after)}.`,
    );
  }
  return said;
}

function names(channels: readonly ReportedChannel[]): string {
  return channels.map((channel) => channel.channel).join(', ');
}

function largest(
  channels: readonly ReportedChannel[],
  by: (channel: ReportedChannel) => number,
): ReportedChannel | undefined {
  return channels.toSorted((a, b) => by(b) - by(a))[0];
}
