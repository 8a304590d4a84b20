import { dayAfter, daysBetween } from '../../../../schema/day-range.ts';
import { aboveLimit, sumOf, words, type Look } from './quality-check.ts';
import type { DayQuality } from './stored-quality.ts';

/* Whether the days are all there, and alike. */

const MISSING_LIMITS = { warning: 0.05, blocking: 0.4 } as const;
/** Fewer days tell of no habit; fewer rows a day, and a day without one is chance (below 1 % at five). */
const GAP_LEAST = { days: 14, present: 7, rowsADay: 5 } as const;

/** Days between the first and the last row of the range on which there is no touch, or no order. */
export const missingDays: Look = ({ stored: { days }, currency }) => {
  if (days.length === 0) return null;
  const span = daysBetween(days[0]!.day, days.at(-1)!.day);
  if (span < GAP_LEAST.days) return null;
  const gapOf = (rows: (day: DayQuality) => number): number => {
    const present = days.filter((day) => rows(day) > 0).length;
    return present < GAP_LEAST.present || sumOf(days, rows) < GAP_LEAST.rowsADay * present ? 0 : span - present;
  };
  const [touches, orders] = [gapOf((day) => day.touches), gapOf((day) => day.orders)];
  const isOrders = orders > touches;
  const gap = Math.max(touches, orders);
  const revenue = sumOf(days, (day) => day.revenue);
  const bought = days.filter((day) => day.orders > 0).length;
  const amount = isOrders
    ? (Math.max(0, revenue) / bought) * gap
    : sumOf(days, (day) => (day.touches === 0 ? day.revenue : 0));
  const where = words.list(gapsIn(days, isOrders ? (day) => day.orders : (day) => day.touches));
  return aboveLimit(MISSING_LIMITS, {
    code: 'missing_days',
    value: gap / span,
    amount: amount > 0 ? amount : null,
    currency,
    message: isOrders
      ? `${words.count(gap)} of ${words.count(span)} days have no order (${where}): at the pace of the others about ` +
        `${words.money(amount, currency)} is missing.`
      : `${words.count(gap)} of ${words.count(span)} days have no touch (${where})` +
        (amount > 0
          ? `; orders of ${words.money(amount, currency)} fell on them, and what brought these may be missing.`
          : '.'),
    remedy: `Upload the ${isOrders ? 'orders' : 'touches'} of these days, or choose a range without them.`,
  });
};

/** The days without a row, from the first to the last with any, as spans. */
function gapsIn(days: readonly DayQuality[], rows: (day: DayQuality) => number): string[] {
  const present = new Set(days.filter((day) => rows(day) > 0).map(({ day }) => day));
  const gaps: { first: string; last: string }[] = [];
  for (let day = days[0]!.day; day <= days.at(-1)!.day; day = dayAfter(day)) {
    if (present.has(day)) continue;
    const open = gaps.at(-1);
    if (open !== undefined && dayAfter(open.last) === day) open.last = day;
    else gaps.push({ first: day, last: day });
  }
  return gaps.map(({ first, last }) => (first === last ? first : `${first} to ${last}`));
}

/** Two weeks on either side of a day, and enough orders in each that chance does not double a ratio. */
const SHIFT = { days: 14, orders: 100, factor: 2 } as const;
const SHIFT_LIMITS = { warning: SHIFT.factor } as const;

/**
 * The day on which touches per order jump the most, and stay there for two weeks. Seasons and sales move both; what
 * moves one of them alone is mostly a change in what is tracked or exported.
 */
export const levelShift: Look = ({ stored: { days }, currency }) => {
  // Gaps are told of by themselves.
  const daily = days.filter(({ touches, orders }) => touches > 0 && orders > 0);
  let [factor, place, isUp] = [1, -1, true];
  for (let at = SHIFT.days; at + SHIFT.days <= daily.length; at += 1) {
    const [before, after] = [daily.slice(at - SHIFT.days, at), daily.slice(at, at + SHIFT.days)].map(totalsOf);
    if (Math.min(before!.orders, after!.orders, before!.touches, after!.touches) < SHIFT.orders) continue;
    const ratio = after!.touches / after!.orders / (before!.touches / before!.orders);
    if (Math.max(ratio, 1 / ratio) > factor) [factor, place, isUp] = [Math.max(ratio, 1 / ratio), at, ratio > 1];
  }
  if (place < 0) return null;
  const [before, after] = [daily.slice(place - SHIFT.days, place), daily.slice(place, place + SHIFT.days)].map(
    totalsOf,
  );
  const rest = daily.length - place < place ? daily.slice(place) : daily.slice(0, place);
  const amount = sumOf(rest, ({ revenue }) => revenue);
  const rate = ({ touches, orders }: { touches: number; orders: number }): string => (touches / orders).toFixed(1);
  return aboveLimit(SHIFT_LIMITS, {
    code: 'level_shift',
    value: factor,
    amount: amount > 0 ? amount : null,
    currency,
    message:
      `On ${daily[place]!.day} touches per order ${isUp ? 'rise' : 'fall'} from ${rate(before!)} to ${rate(after!)} ` +
      `and stay there: ${words.money(amount, currency)} of orders lie on the shorter side.`,
    remedy:
      'If no campaign began or ended then, tracking or the export changed: correct the files, or analyse either side ' +
      'by itself.',
  });
};

const totalsOf = (days: readonly DayQuality[]) => ({
  touches: sumOf(days, ({ touches }) => touches),
  orders: sumOf(days, ({ orders }) => orders),
});
