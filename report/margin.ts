import type { AttributionReport } from './attribution-report.ts';
import type { Interval } from './verdicts.ts';

type Told = Pick<AttributionReport, 'profitability'>;

/** Share of revenue that is left after the cost of goods; all of it where nobody has said how much. */
const marginOf = ({ profitability }: Told): number => profitability?.margin ?? 1;

/** Revenue that pays for the spend, beside what the goods cost: less is a loss. */
export const breakEvenOf = (report: Told, spend: number): number => spend / marginOf(report);

/** What is left of a credit, major units, and per unit of spend; null without spend. */
export interface Profit {
  readonly amount: number;
  readonly interval: Interval | null;
  readonly roas: number | null;
  readonly roasInterval: Interval | null;
}

/** What of a credit is left after its goods and its spend; null where there is no margin to tell by. */
export function profitOf(report: Told, revenue: number, interval: Interval | null, spend: number): Profit | null {
  if (report.profitability === undefined) return null;
  const margin = marginOf(report);
  const ends = (of: (end: number) => number): Interval | null =>
    interval === null ? null : { lower: of(interval.lower), upper: of(interval.upper), level: interval.level };
  return {
    amount: margin * revenue - spend,
    interval: ends((end) => margin * end - spend),
    roas: spend > 0 ? (margin * revenue) / spend : null,
    roasInterval: spend > 0 ? ends((end) => (margin * end) / spend) : null,
  };
}

const ORIGINS: Readonly<Record<string, string>> = {
  orders: 'by what the goods of the orders cost',
  setting: 'that of the source',
  request: 'stated for this analysis',
};

/** `42.35 %`: as fine as margins are. */
export const marginPercent = (margin: number): string => `${Number((100 * margin).toFixed(2))} %`;

/** `a margin of 42 % (that of the source)`; null where nobody has said one. */
export function marginWords({ profitability }: Told): string | null {
  if (profitability === undefined) return null;
  const { margin, origin } = profitability;
  return `a margin of ${marginPercent(margin)} (${ORIGINS[origin] ?? origin})`;
}

/** What verdicts and returns stand on where nobody has said a margin, and how to say one. */
export const WITHOUT_MARGIN =
  'Revenue is held against spend as if all of it were kept, at a margin of 100 %. State yours, and profit is told: ' +
  'margin of the analysis or its source, --margin on the command line, or a column cogs of the orders.';
