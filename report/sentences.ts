import type { AttributionReport, ReportedChannel } from './attribution-report.ts';
import { breakEvenOf } from './margin.ts';
import { numberFormat, type NumberFormat } from './number-format.ts';
import type { Interval, Verdict } from './verdicts.ts';

/** `95 % interval $1 to $2`. */
export function intervalWords({ lower, upper, level }: Interval, format: NumberFormat): string {
  return `${format.percent(level)} interval ${format.money(lower)} to ${format.money(upper)}`;
}

/** What revenue is held against, and how that is put into words. */
export interface BreakEven {
  readonly revenue: number;
  /** As what a channel brings more or less than; and as what an interval holds. */
  readonly beaten: string;
  readonly held: string;
  readonly format: NumberFormat;
}

/** The break-even of a spend: the spend itself without a margin. */
export function breakEvenIn(report: AttributionReport, spend: number): BreakEven {
  const format = numberFormat(report.currency);
  const revenue = breakEvenOf(report, spend);
  if (report.profitability === undefined)
    return {
      revenue,
      beaten: `the ${format.money(spend)} it costs`,
      held: `its spend of ${format.money(spend)}`,
      format,
    };
  const named = `its break-even of ${format.money(revenue)}`;
  return { revenue, beaten: named, held: named, format };
}

/** What may be said of one channel, by its verdict. */
export function channelSentence(
  { channel, spend, attributed_revenue: credit, confidence_interval: interval }: ReportedChannel,
  verdict: Verdict,
  breakEven: BreakEven,
): string {
  const { beaten, format } = breakEven;
  const range = interval === null ? '' : intervalWords(interval, format);
  switch (verdict) {
    case 'pays':
      return `${channel} earns more than it costs: it brings more than ${beaten} (${range}).`;
    case 'adds':
      return `${channel} adds revenue (${range}); no spend is recorded to hold it against.`;
    case 'loses':
      return `${channel} is below break-even: it brings back less than ${beaten} (${range}).`;
    case 'harms':
      return `${channel} takes revenue away: the whole interval lies below 0 (${range}).`;
    case 'unmeasured':
      return `What ${channel} brings is not measurable with these rows.`;
    case 'unjudged':
      return `${channel} is credited with ${format.money(credit)}; whether it earns its cost is not judged here.`;
    case 'open':
      return openSentence(channel, spend, interval, breakEven);
  }
}

function openSentence(
  channel: string,
  spend: number,
  interval: Interval | null,
  { revenue, held: mark, format }: BreakEven,
): string {
  const holdsNothing = interval !== null && interval.lower <= 0 && interval.upper >= 0;
  const holdsBreakEven = interval !== null && spend > 0 && interval.lower <= revenue && revenue <= interval.upper;
  const question = spend > 0 ? `Whether ${channel} earns its cost can’t be told` : `What ${channel} does can’t be told`;
  if (interval === null) return `${question}: there is no interval.`;
  const held = [...(holdsBreakEven ? [mark] : []), ...(holdsNothing ? ['an effect of nothing'] : [])].join(' and ');
  return held === ''
    ? `${question}: the rows are not good enough (${intervalWords(interval, format)}).`
    : `${question}: the interval holds ${held} (${intervalWords(interval, format)}).`;
}

/** What may be said of channels that share a verdict, in one sentence. */
export function groupSentence(
  verdict: Verdict,
  names: readonly string[],
  { profitability }: Pick<AttributionReport, 'profitability'>,
): string {
  const mark = profitability === undefined ? 'the spend' : 'break-even';
  const list = names.join(', ');
  const isOne = names.length === 1;
  switch (verdict) {
    case 'pays':
      return `Earning more than ${isOne ? 'it costs' : 'they cost'}, with the whole interval above ${mark}: ${list}.`;
    case 'adds':
      return `Adding revenue, with no spend recorded to hold it against: ${list}.`;
    case 'loses':
      return `Below break-even, with the whole interval below ${profitability === undefined ? mark : 'it'}: ${list}.`;
    case 'harms':
      return `Taking revenue away, with the whole interval below 0: ${list}.`;
    case 'open':
      return `Can’t be told: whether ${list} ${isOne ? 'earns its cost' : 'earn their cost'}.`;
    case 'unmeasured':
      return `Not measurable with these rows: ${list}.`;
    case 'unjudged':
      return `Not judged: whether ${list} ${isOne ? 'earns its cost' : 'earn their cost'}.`;
  }
}
