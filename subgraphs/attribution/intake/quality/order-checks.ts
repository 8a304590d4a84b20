import { aboveLimit, belowLimit, checkOf, LEAST, touchesOf, words, type Look } from './quality-check.ts';

/* Whether the orders are whole, once each, and of people whom the touches know. */

const MATCH_LIMITS = { warning: 0.7, blocking: 0.4 } as const;
const DUPLICATE_LIMITS = { warning: 0.01, blocking: 0.2 } as const;
/** Rows of orders from which repeated ids tell: that one file has an id twice is never chance. */
const LEAST_REPEATING = 5;
const JOIN_REMEDY =
  'Give touches and orders the same user_id: the customer id of both, or the cookie of both. Where the touches are ' +
  'paid clicks alone, upload the other visits, too.';

/** Orders whose user has a touch. */
export const orderMatchRate: Look = ({ stored: { orders, channels }, currency }) => {
  // Orders without any touch are told otherwise: there is nothing to analyse.
  if (orders.count < LEAST.orders || touchesOf(channels) === 0) return null;
  const { count, unmatched, unmatchedRevenue } = orders;
  return belowLimit(MATCH_LIMITS, {
    code: 'order_match_rate',
    value: 1 - unmatched / count,
    amount: unmatchedRevenue,
    currency,
    message:
      `${words.count(unmatched)} of ${words.count(count)} orders, ${words.money(unmatchedRevenue, currency)}, are of ` +
      `users without a single touch: no channel can earn them.`,
    remedy: JOIN_REMEDY,
  });
};

/** Buyers who have a touch. */
export const userMatchRate: Look = ({ stored: { orders, channels }, currency }) => {
  const { users, unmatchedUsers, unmatchedRevenue } = orders;
  if (users < LEAST.orders || touchesOf(channels) === 0) return null;
  return belowLimit(MATCH_LIMITS, {
    code: 'user_match_rate',
    value: 1 - unmatchedUsers / users,
    amount: unmatchedRevenue,
    currency,
    message:
      `${words.count(unmatchedUsers)} of ${words.count(users)} buyers, who paid ` +
      `${words.money(unmatchedRevenue, currency)}, have no touch under their user_id.`,
    remedy: JOIN_REMEDY,
  });
};

/** Orders that are there twice: under two ids, or rows of one file with one id, of which the last stays. */
export const duplicateOrders: Look = ({ stored: { orders }, uploads, currency }) => {
  if (orders.count === 0) return null;
  const repeated = uploads.reduce((sum, { found }) => sum + (found.repeatedOrders ?? 0), 0);
  const taken = uploads.reduce((sum, { found }) => sum + (found.repeatedOrders ? (found.conversions ?? 0) : 0), 0);
  const shareRepeated = taken < LEAST_REPEATING ? 0 : repeated / taken;
  const shareAlike = orders.count < LEAST.orders ? 0 : orders.alike / orders.count;
  const isRepeated = shareRepeated > shareAlike;
  return aboveLimit(DUPLICATE_LIMITS, {
    code: 'duplicate_orders',
    value: Math.max(shareRepeated, shareAlike),
    amount: isRepeated ? (repeated * orders.revenue) / orders.count : orders.alikeRevenue,
    currency,
    message: isRepeated
      ? `${words.count(repeated)} of ${words.count(taken)} rows of orders repeat an order id of the same file. Of ` +
        `each id the last row counts, and about ${words.money((repeated * orders.revenue) / orders.count, currency)} ` +
        `may be lost.`
      : `${words.count(orders.alike)} orders, ${words.money(orders.alikeRevenue, currency)}, look like another of ` +
        `the same user, minute and amount under a second order_id: their revenue counts twice.`,
    remedy: isRepeated
      ? 'Send one row per order with its whole revenue, not one per item.'
      : 'Give an order the same order_id wherever it comes from, and send it once.',
  });
};

const REFUND_LEAST = { expected: 10, orders: 1_000, days: 28 } as const;

/** Refunds that other days of the source have and these have not. */
export const refundsMissing: Look = ({ stored: { orders, everOrders, days }, currency }) => {
  const remedy =
    'Send refunds as well: the order again with what is left of its revenue, or a row of its own with a negative ' +
    'amount.';
  if (orders.refunds > 0) return null;
  const elsewhere = { orders: everOrders.count - orders.count, refunds: everOrders.refunds };
  const rate = elsewhere.orders > 0 ? elsewhere.refunds / elsewhere.orders : 0;
  if (rate * orders.count >= REFUND_LEAST.expected)
    return checkOf('warning', rate, {
      code: 'refunds_missing',
      value: 0,
      amount: rate * orders.revenue,
      currency,
      message:
        `On other days ${words.percent(rate)} of the orders are refunds or refunded in full, and here none of ` +
        `${words.count(orders.count)}: about ${words.money(rate * orders.revenue, currency)} too much.`,
      remedy,
    });
  if (elsewhere.refunds > 0 || orders.count < REFUND_LEAST.orders || days.length < REFUND_LEAST.days) return null;
  return checkOf('info', 0, {
    code: 'refunds_missing',
    value: 0,
    amount: null,
    currency,
    message:
      `None of ${words.count(orders.count)} orders was refunded in full, and none has a negative amount: ` +
      `${words.money(orders.revenue, currency)} is probably the revenue before refunds.`,
    remedy,
  });
};
