const DAY_MS = 86_400_000;

/** Days of data that the example shop has. */
export const SHOP_DAYS = 182;

/** The days of the shop, day 0 first, with what each day does to demand. */
export interface ShopCalendar {
  readonly days: number;
  /** Seconds since the epoch of day 0, 00:00 UTC. */
  readonly startS: number;
  /** `YYYY-MM-DD` of every day. */
  readonly dates: readonly string[];
  /** 0 = Sunday. */
  readonly weekday: Uint8Array;
  /** Demand of a day against the mean day. */
  readonly demand: Float64Array;
  readonly sale: Uint8Array;
  /** Days on which an influencer posts. */
  readonly influencerDays: readonly number[];
}

/** Sunday evening is for planning the next trip, Saturday for being on one. */
const WEEKDAY_DEMAND = [1.22, 1.08, 1.0, 0.98, 0.96, 0.92, 0.84];

/** First and last day of the sale week, counted back from the last day. */
const SALE_DAYS_BEFORE_END = [59, 53] as const;

/**
 * The calendar of the `SHOP_DAYS` days that end with `endDate` (`YYYY-MM-DD`, UTC, inclusive).
 * Throws a RangeError when that is not a date.
 */
export function shopCalendar(endDate: string): ShopCalendar {
  const endMs = Date.parse(`${endDate}T00:00:00Z`);
  if (Number.isNaN(endMs) || new Date(endMs).toISOString().slice(0, 10) !== endDate) {
    throw new RangeError(`"${endDate}" is not a date of the form YYYY-MM-DD`);
  }
  const days = SHOP_DAYS;
  const startMs = endMs - (days - 1) * DAY_MS;
  const dates = Array.from({ length: days }, (_, day) => new Date(startMs + day * DAY_MS).toISOString().slice(0, 10));
  const weekday = Uint8Array.from(dates, (date) => new Date(date).getUTCDay());
  const sale = Uint8Array.from({ length: days }, (_, day) => {
    const left = days - 1 - day;
    return left <= SALE_DAYS_BEFORE_END[0] && left >= SALE_DAYS_BEFORE_END[1] ? 1 : 0;
  });
  const demand = Float64Array.from({ length: days }, (_, day) => {
    const growth = 0.92 + (0.16 * day) / days;
    const season = 1 + 0.12 * Math.sin((2 * Math.PI * day) / days);
    return WEEKDAY_DEMAND[weekday[day]!]! * growth * season * (sale[day] === 1 ? 1.9 : 1);
  });
  const influencerDays = [18, 47, 76, 104, 131, 158];
  return { days, startS: startMs / 1000, dates, weekday, demand, sale, influencerDays };
}

/** The day before `now`, in UTC: the last day that is complete. */
export function yesterdayUtc(now: Date): string {
  return new Date(now.getTime() - DAY_MS).toISOString().slice(0, 10);
}

/** A second of the day from a number in (0, 1): quiet nights, a lunch break, busy evenings. */
export function secondOfDay(uniform: number): number {
  const position = uniform * HOUR_CUMULATIVE[24]!;
  let hour = 0;
  while (HOUR_CUMULATIVE[hour + 1]! <= position) hour += 1;
  const within = (position - HOUR_CUMULATIVE[hour]!) / (HOUR_CUMULATIVE[hour + 1]! - HOUR_CUMULATIVE[hour]!);
  return Math.min(86_399, Math.floor((hour + within) * 3600));
}

const HOUR_WEIGHT = [2, 1, 1, 1, 1, 2, 4, 6, 7, 7, 7, 7, 9, 8, 7, 6, 6, 7, 8, 10, 12, 11, 8, 4];
const HOUR_CUMULATIVE = HOUR_WEIGHT.reduce((sums, weight) => [...sums, sums.at(-1)! + weight], [0]);
