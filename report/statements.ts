import type { AttributionReport, ReportedChannel } from './attribution-report.ts';
import { deltaRInterval } from './delta-r-interval.ts';
import { isIncremental, isJudged, isSound } from './judgement.ts';
import { breakEvenOf, marginWords, profitOf, WITHOUT_MARGIN } from './margin.ts';
import { nextStep, type NextStep } from './next-steps.ts';
import { numberFormat, type NumberFormat } from './number-format.ts';
import { breakEvenIn, channelSentence, groupSentence, intervalWords } from './sentences.ts';
import { isMeasurable, paidChannels } from './shown-channels.ts';
import { totalImpact, type TotalImpact } from './total-impact.ts';
import { VERDICTS, verdictOf, type Interval, type Verdict } from './verdicts.ts';

/** What is said of one paid channel. */
export interface ChannelStatement {
  readonly channel: string;
  readonly verdict: Verdict;
  readonly spend: number;
  readonly interval: Interval | null;
  /** Plain text, complete by itself. */
  readonly sentence: string;
  /** What last click shows, against the interval; null inside it, where a difference may be chance. */
  readonly lastClick: 'too_much' | 'too_little' | null;
  readonly next: NextStep;
}

/** Everything that a report says of what marketing did; every kind of paper draws from it. */
export interface ReportStatements {
  readonly total: TotalImpact & { readonly verdict: Verdict };
  /** Of the total, in plain text. */
  readonly headline: readonly string[];
  /** What Delta_R is, and what it is not. */
  readonly recovered: string;
  readonly channels: readonly ChannelStatement[];
  /** One sentence per verdict, over the channels that share it. */
  readonly groups: readonly {
    readonly verdict: Verdict;
    readonly channels: readonly string[];
    readonly text: string;
  }[];
  /** Where last click lies outside a channel's interval. */
  readonly lastClick: readonly string[];
  /** What experiments measured. */
  readonly experiments: readonly string[];
}

/** Drawn from intervals and identification alone; see {@link verdictOf}. */
export function statementsOf(report: AttributionReport): ReportStatements {
  const format = numberFormat(report.currency);
  const total = totalOf(report);
  const channels = paidChannels(report).map((channel): ChannelStatement => {
    const verdict = verdictOfChannel(report, channel);
    return {
      channel: channel.channel,
      verdict,
      spend: channel.spend,
      interval: channel.confidence_interval,
      sentence: channelSentence(channel, verdict, breakEvenIn(report, channel.spend)),
      lastClick: lastClickOf(report, channel),
      next: nextStep(report, channel, verdict),
    };
  });
  const byVerdict = Map.groupBy(channels, ({ verdict }) => verdict);
  return {
    total,
    headline: headline(report, total, format),
    recovered: recoveredSentence(report, format),
    channels,
    groups: VERDICTS.flatMap((verdict) => {
      const names = (byVerdict.get(verdict) ?? []).map(({ channel }) => channel);
      return names.length === 0 ? [] : [{ verdict, channels: names, text: groupSentence(verdict, names, report) }];
    }),
    lastClick: lastClickSentences(report, channels, format),
    experiments: report.diagnostics.experiments.map((each) => experimentSentence(each, format)),
  };
}

const verdictOfChannel = (report: AttributionReport, channel: ReportedChannel): Verdict =>
  verdictOf({
    breakEven: breakEvenOf(report, channel.spend),
    interval: channel.confidence_interval,
    isMeasurable: isMeasurable(channel),
    isJudged: isJudged(report),
    isSound: isSound(report),
  });

function totalOf(report: AttributionReport): ReportStatements['total'] {
  const total = totalImpact(report);
  const verdict = verdictOf({
    breakEven: breakEvenOf(report, total.spend),
    interval: total.interval,
    isMeasurable: total.channels.length > 0,
    isJudged: isJudged(report),
    isSound: isSound(report),
  });
  return { ...total, verdict };
}

const TOTAL_VERDICTS: Readonly<Record<Verdict, string | null>> = {
  pays: 'Together they earn more than they cost.',
  adds: 'Together they add revenue; no spend is recorded to hold it against.',
  loses: 'Together they are below break-even.',
  harms: 'Together they take revenue away.',
  open: 'Whether they earn their cost together can’t be told.',
  unmeasured: null,
  unjudged: 'Whether they earn their cost is not judged.',
};

function headline(report: AttributionReport, total: ReportStatements['total'], format: NumberFormat): string[] {
  const { revenue, interval, spend, roas, roasInterval, verdict, leftOut } = total;
  const judged = verdict === 'open' && spend === 0 ? 'What they do together can’t be told.' : TOTAL_VERDICTS[verdict];
  if (verdict === 'unmeasured')
    return ['What marketing brought is not measurable with these rows: no paid channel has a figure.'];
  const cost = spend > 0 ? `, for ${format.money(spend)} spent` : '';
  const multiples = ({ lower, upper }: Interval): string => ` (${format.multiple(lower)} to ${format.multiple(upper)})`;
  const returned =
    roas === null ? '' : `; ROAS ${format.multiple(roas)}${roasInterval === null ? '' : multiples(roasInterval)}`;
  const amount = `${format.money(revenue)}${interval === null ? '' : ` (${intervalWords(interval, format)})`}`;
  const names = report.channels == null ? 'The paid channels' : 'The paid channels shown';
  const said = isIncremental(report)
    ? `${names} are estimated to have added ${amount}${cost}${returned}.`
    : `${names} are credited with ${amount}${cost}${returned}: a share of what was bought, not what marketing changed.`;
  return [
    said,
    ...profitSentence(report, total, format),
    ...(judged === null ? [] : [judged]),
    ...(leftOut.length === 0 ? [] : [`Not in it, since not measurable: ${leftOut.join(', ')}.`]),
    ...(report.profitability === undefined && spend > 0 ? [WITHOUT_MARGIN] : []),
  ];
}

/** What of the total is left; without spend nobody knows what it cost. */
function profitSentence(
  report: AttributionReport,
  { revenue, interval, spend }: TotalImpact,
  format: NumberFormat,
): readonly string[] {
  const [margin, profit] = [marginWords(report), profitOf(report, revenue, interval, spend)];
  if (margin === null || profit === null || profit.roas === null) return [];
  const { roasInterval } = profit;
  const around = profit.interval === null ? '' : ` (${intervalWords(profit.interval, format)})`;
  const multiples =
    roasInterval === null ? '' : ` (${format.multiple(roasInterval.lower)} to ${format.multiple(roasInterval.upper)})`;
  return [
    `At ${margin} that is a profit of ${format.money(profit.amount)}${around}; profit ROAS ` +
      `${format.multiple(profit.roas)}${multiples}.`,
  ];
}

/** Delta_R moves credit between channels: it is never on top of the total, and the sentence says so. */
function recoveredSentence(report: AttributionReport, format: NumberFormat): string {
  const interval = deltaRInterval(report);
  const level = report.confidence_level;
  const range =
    interval === null
      ? ''
      : ` (${intervalWords({ lower: interval[0] / 100, upper: interval[1] / 100, level }, format)})`;
  const net = report.delta_r_net_cents / 100;
  const overall =
    Math.abs(net) < 0.005
      ? 'as much as by last click'
      : `${format.money(Math.abs(net))} ${net > 0 ? 'more' : 'less'} than by last click`;
  return (
    `Recovered revenue (Delta_R) ${report.channels == null ? '' : 'of the whole shop '}is ` +
    `${format.money(report.delta_r_cents / 100)}${range}: what the channels that last ` +
    `click under-credits are credited with beyond it. It is not on top of the total; all paid channels together are ` +
    `credited with ${overall}.`
  );
}

/** Where last click lies, where verdicts may be drawn at all. */
function lastClickOf(
  report: AttributionReport,
  { lastclick_revenue: shown, confidence_interval: interval, ...channel }: ReportedChannel,
): ChannelStatement['lastClick'] {
  if (!isJudged(report) || !isSound(report) || !isMeasurable(channel) || interval === null) return null;
  if (shown > interval.upper) return 'too_much';
  return shown < interval.lower ? 'too_little' : null;
}

/** One sentence for the channels of which last click shows too much, and one for those of which it shows too little. */
function lastClickSentences(
  report: AttributionReport,
  channels: readonly ChannelStatement[],
  format: NumberFormat,
): string[] {
  const shown = new Map(report.channel_impact.map((each) => [each.channel, each.lastclick_revenue]));
  return (['too_much', 'too_little'] as const).flatMap((kind) => {
    const those = channels.flatMap(({ channel, lastClick, interval }) => {
      if (lastClick !== kind || interval === null) return [];
      const end =
        kind === 'too_much' ? `at most ${format.money(interval.upper)}` : `at least ${format.money(interval.lower)}`;
      return [`${channel} (${format.money(shown.get(channel) ?? 0)}; the interval says ${end})`];
    });
    return those.length === 0
      ? []
      : [`Last click shows too ${kind === 'too_much' ? 'much' : 'little'} of ${those.join(', ')}.`];
  });
}

function experimentSentence(
  {
    channel,
    method,
    incremental_revenue: measured,
    standard_error: error,
    model_incremental_revenue_before: before,
    model_incremental_revenue_after: after,
  }: AttributionReport['diagnostics']['experiments'][number],
  format: NumberFormat,
): string {
  return (
    `A ${method} experiment measured ${format.money(measured)} ± ${format.money(error)} for ${channel} here; the ` +
    `model alone credited ${format.money(before)}, together they say ${format.money(after)}.`
  );
}
