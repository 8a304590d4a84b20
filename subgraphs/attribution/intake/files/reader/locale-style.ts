import type { DecimalSign } from './styles/number-style.ts';
import type { DayOrder } from './styles/time-style.ts';

/** How numbers and dates are written in a locale such as `de-DE`. */
export function localeStyle(locale: string): { readonly decimal: DecimalSign; readonly order: DayOrder } {
  const decimal = new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value;
  const parts = new Intl.DateTimeFormat(locale).formatToParts(0).map(({ type }) => type);
  return {
    decimal: decimal === ',' ? 'comma' : 'point',
    order: parts.indexOf('day') < parts.indexOf('month') ? 'day_first' : 'month_first',
  };
}
