import { aboveLimit, checkOf, LEAST, sumOf, words, type Look } from './quality-check.ts';
import { daysBetween } from '../../../../schema/day-range.ts';
import type { UploadQuality } from './upload-quality.ts';

/* What came of the files: rows that were not taken, and readings that were guessed. */

const REJECTED_LIMITS = { warning: 0.01, blocking: 0.1 } as const;
/** Whether a row can be read is no matter of chance: a few say it. */
const LEAST_ROWS = 10;
const LOOK_AT_REJECTS =
  'Look at the rejected rows and the reason of each (rejects of the source; the command line names the first), ' +
  'correct the file, and send it again.';

/** Revenue of conversions that were rejected, other than for their currency. */
export const rejectedRevenue: Look = (evidence) => {
  const { stored, uploads, currency, dateRange } = evidence;
  const { orders } = stored;
  const mean = orders.count === 0 ? 0 : Math.max(0, orders.revenue) / orders.count;
  let [rows, amount, isEstimated] = [0, 0, false];
  for (const upload of uploads) {
    const part = partInRange(upload, dateRange);
    const rejected = rejectsOf(upload, currency);
    rows += part * rejected.rows;
    amount += part * (rejected.amount + rejected.unpriced * mean);
    isEstimated ||= rejected.unpriced > 0 || part < 1;
  }
  if (orders.count + rows < LEAST_ROWS || rows < 1) return null;
  const value = amount > 0 ? amount / (amount + Math.max(0, orders.revenue)) : rows / (rows + orders.count);
  const about = isEstimated ? 'about ' : '';
  return aboveLimit(REJECTED_LIMITS, {
    code: 'rejected_revenue',
    value,
    amount: amount > 0 ? amount : null,
    currency,
    message:
      `${about === '' ? '' : 'About '}${words.count(rows)} orders were rejected` +
      (amount > 0
        ? `, and with them ${about}${words.money(amount, currency)}, ${words.percent(value)} of the revenue.`
        : `, ${words.percent(value)} of all; what they are worth cannot be read.`),
    remedy: LOOK_AT_REJECTS,
  });
};

/** Amounts in another currency than that of the source, for which there is no rate. */
export const mixedCurrencies: Look = ({ stored, uploads, currency, dateRange }) => {
  const others = new Map<string, { rows: number; amount: number }>();
  let isEstimated = false;
  const add = (code: string, rows: number, amount: number): void => {
    if (code === '' || code === currency) return;
    const known = others.get(code) ?? { rows: 0, amount: 0 };
    others.set(code, { rows: known.rows + rows, amount: known.amount + amount });
  };
  for (const { currency: code, orders, revenue } of stored.currencies) add(code, orders, revenue);
  for (const upload of uploads) {
    if (shareOfConversions(upload) === 0) continue;
    const part = partInRange(upload, dateRange);
    const { foreignRows, rowsRejected, keptRejects, found } = upload;
    isEstimated ||= foreignRows.size > 0 && (part < 1 || keptRejects < rowsRejected);
    for (const [code, rows] of foreignRows) add(code, (part * rows * rowsRejected) / keptRejects, 0);
    for (const [code, text] of Object.entries(found.rejectedRevenue ?? {})) add(code, 0, part * Number(text));
  }
  const named = [...others].toSorted(([a, one], [b, two]) => two.rows - one.rows || (a < b ? -1 : 1));
  const rows = sumOf(named, ([, { rows: each }]) => each);
  const all = stored.orders.count + rows;
  if (named.length === 0 || all < LEAST.orders) return null;
  const [first, { amount }] = named[0]!;
  const shown = named.map(([code, other]) =>
    other.amount > 0
      ? words.money(other.amount, code)
      : `${isEstimated ? 'about ' : ''}${words.count(other.rows)} orders in ${code}`,
  );
  return checkOf('blocking', 0, {
    code: 'mixed_currencies',
    value: rows / all,
    amount: amount > 0 ? amount : null,
    currency: first,
    message: `The source counts in ${currency}, and there is no rate for ${words.list(shown)}.`,
    remedy: `Give all amounts in ${currency}, or connect one source per currency.`,
  });
};

/** Times that name no zone and were read in one. */
export const assumedTimeZone: Look = ({ stored: { orders }, uploads, currency }) => {
  const assumed = uploads.filter(({ found }) => found.assumedTimeZone !== undefined);
  if (assumed.length === 0) return null;
  const zones = [...new Set(assumed.map(({ found }) => found.assumedTimeZone!))].toSorted();
  const rows = sumOf(assumed, ({ rowsAccepted }) => rowsAccepted);
  const amount = assumed.some((upload) => shareOfConversions(upload) > 0) ? orders.revenue : null;
  const money = amount === null ? '.' : `; ${words.money(amount, currency)} of orders may lie on another day.`;
  return checkOf('warning', 0, {
    code: 'assumed_time_zone',
    value: 1,
    amount,
    currency,
    message: `The times of ${words.count(rows)} rows name no zone and were read in ${words.list(zones)}${money}`,
    remedy: 'Say in which zone the file was exported, or export times with their offset from UTC.',
  });
};

/** Rejected conversions in the currency of the source, and what is known of their amounts. */
function rejectsOf(upload: UploadQuality, currency: string) {
  const { rowsRejected, keptRejects, foreignRows, found } = upload;
  const all = rowsRejected * shareOfConversions(upload);
  const foreign = keptRejects === 0 ? 0 : sumOf(foreignRows.values(), (rows) => rows) / keptRejects;
  const rows = all * (1 - foreign);
  if (found.rejectedRevenue === undefined) return { rows, amount: 0, unpriced: rows };
  return { rows, amount: Number(found.rejectedRevenue[currency] ?? 0), unpriced: found.unpricedRejects ?? 0 };
}

/** Of a table of events, as many of the rejected rows are taken for conversions as of those that were taken. */
function shareOfConversions({ kind, rowsAccepted, found }: UploadQuality): number {
  if (kind === 'conversions') return 1;
  return kind === 'events' && rowsAccepted > 0 ? (found.conversions ?? 0) / rowsAccepted : 0;
}

/** How much of a file's days lies in the range; all of a file without days. */
function partInRange({ found: { firstDay, lastDay } }: UploadQuality, [start, end]: readonly [string, string]): number {
  if (firstDay === undefined || lastDay === undefined) return 1;
  const [first, last] = [firstDay > start ? firstDay : start, lastDay < end ? lastDay : end];
  return first > last ? 0 : daysBetween(first, last) / daysBetween(firstDay, lastDay);
}
