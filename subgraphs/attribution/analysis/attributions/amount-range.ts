import { RunFailedError } from '../../runs/run-failed-error.ts';
import type { RunFailure } from '../../runs/run.ts';
import type { AnalysisFigures } from './figures.ts';

/**
 * Largest sum of amounts that an analysis takes, major units. Figures are whole cents, which are exact up to 2^53 − 1,
 * that is 90.07 · 10^12 major units; the rest is room for what arithmetic adds on the way.
 */
export const MAX_SUM = 90e12;

/** What the rows of a run add up to; amounts in major units. */
export interface RunSums {
  readonly totals: Readonly<Record<'turnover' | 'journeys' | 'conversions' | 'touches', number>>;
  readonly spend: ReadonlyMap<string, number>;
}

/**
 * Refuses rows of which not every sum can be exact: a figure of an analysis is at most the sum of the sizes of the
 * amounts.
 * @throws RunFailedError amount_out_of_range
 */
export function assertAmountsInRange({ totals, spend }: RunSums): void {
  const { turnover, journeys, conversions, touches } = totals;
  if (!(turnover <= MAX_SUM)) {
    throw outOfRange(
      `The revenue of this range, refunds counted as well, adds up to more than ${shown(MAX_SUM)}`,
      'orders',
    );
  }
  if (!(sum(spend.values()) <= MAX_SUM)) {
    throw outOfRange(`The spend of this range adds up to more than ${shown(MAX_SUM)}`, 'spend and costs');
  }
  if (![journeys, conversions, touches].every((count) => count <= Number.MAX_SAFE_INTEGER)) {
    throw outOfRange(
      `The journeys of this range or their touches are more than ${shown(Number.MAX_SAFE_INTEGER)}`,
      'paths',
    );
  }
}

/**
 * The last look at figures before they are kept; models may find more than the rows hold.
 * @throws RunFailedError amount_out_of_range
 */
export function assertFiguresInRange(figures: AnalysisFigures): void {
  if (!areFiguresInRange(figures)) throw new RunFailedError(FIGURES_OUT_OF_RANGE);
}

/**
 * Whether all money of the figures is exact, so that it can be shown. Periods and campaigns are parts of their
 * channels.
 */
export function areFiguresInRange(figures: AnalysisFigures): boolean {
  const cents = [
    figures.revenueCents,
    figures.baselineRevenueCents,
    figures.unattributedRevenueCents,
    figures.revenueCausalCents,
    figures.revenueLastclickCents,
    figures.deltaRCents,
    figures.deltaRNetCents,
    ...figures.channels.flatMap((channel) => [channel.attributedRevenueCents, channel.lastclickRevenueCents]),
  ];
  const others = [figures.conversions, ...figures.channels.map(({ spend }) => spend)];
  return cents.every(Number.isSafeInteger) && others.every(Number.isFinite);
}

/** What an analysis failed of whose figures cannot be exact. */
export const FIGURES_OUT_OF_RANGE: RunFailure = {
  code: 'amount_out_of_range',
  message: `The figures of this analysis are larger than can be computed to the cent. ${remedyFor('orders and spend')}`,
};

function outOfRange(fault: string, rows: string): RunFailedError {
  const message = `${fault}, which is more than can be computed exactly. ${remedyFor(rows)}`;
  return new RunFailedError({ code: 'amount_out_of_range', message });
}

function remedyFor(rows: string): string {
  const where = `Look for a wrong number among the ${rows}, such as an id or a time in the column of an amount`;
  return `${where}, correct it and send the row again; or choose a range without it.`;
}

const shown = (amount: number): string => amount.toLocaleString('en-US');

function sum(amounts: Iterable<number>): number {
  let total = 0;
  for (const amount of amounts) total += amount;
  return total;
}
