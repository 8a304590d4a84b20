import type { ReportedChannel } from './attribution-report.ts';
import type { NumberFormat } from './number-format.ts';
import type { Interval, Verdict } from './verdicts.ts';

/** `95 % interval $1 to $2`. */
export function intervalWords({ lower, upper, level }: Interval, format: NumberFormat): string {
  return `${format.percent(level)} interval ${format.money(lower)} to ${format.money(upper)}`;
}

/** What may be said of one channel, by its verdict. */
export function channelSentence(
  { channel, spend, attributed_revenue: credit, confidence_interval: interval }: ReportedChannel,
  verdict: Verdict,
  format: NumberFormat,
): string {
  const range = interval === null ? '' : intervalWords(interval, format);
  switch (verdict) {
    case 'pays':
      return `${channel} earns more than it costs: for ${format.money(spend)} it brings more (${range}).`;
    case 'adds':
      return `${channel} adds revenue (${range}); no spend is recorded to hold it against.`;
    case 'loses':
      return `${channel} is below break-even: it brings back less than the ${format.money(spend)} it costs (${range}).`;
    case 'harms':
      return `${channel} takes revenue away: the whole interval lies below 0 (${range}).`;
    case 'unmeasured':
      return `What ${channel} brings is not measurable with these rows.`;
    case 'unjudged':
      return `${channel} is credited with ${format.money(credit)}; whether it earns its cost is not judged here.`;
    case 'open':
      return openSentence(channel, spend, interval, format);
  }
}

function openSentence(channel: string, spend: number, interval: Interval | null, format: NumberFormat): string {
  const holdsNothing = interval !== null && interval.lower <= 0 && interval.upper >= 0;
  const holdsSpend = interval !== null && spend > 0 && interval.lower <= spend && spend <= interval.upper;
  const question = spend > 0 ? `Whether ${channel} earns its cost can’t be told` : `What ${channel} does can’t be told`;
  if (interval === null) return `${question}: there is no interval.`;
  const held = [
    ...(holdsSpend ? [`its spend of ${format.money(spend)}`] : []),
    ...(holdsNothing ? ['an effect of nothing'] : []),
  ].join(' and ');
  return held === ''
    ? `${question}: the rows are not good enough (${intervalWords(interval, format)}).`
    : `${question}: the interval holds ${held} (${intervalWords(interval, format)}).`;
}

/** What may be said of channels that share a verdict, in one sentence. */
export function groupSentence(verdict: Verdict, names: readonly string[]): string {
  const list = names.join(', ');
  const isOne = names.length === 1;
  switch (verdict) {
    case 'pays':
      return `Earning more than ${isOne ? 'it costs' : 'they cost'}, with the whole interval above the spend: ${list}.`;
    case 'adds':
      return `Adding revenue, with no spend recorded to hold it against: ${list}.`;
    case 'loses':
      return `Below break-even, with the whole interval below the spend: ${list}.`;
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
