import type { WorldSpec } from '../../world-spec.ts';

/** What a touch costs against one of the others: clicks are dear, views and mails cheap. */
const RELATIVE: Readonly<Record<string, number>> = {
  paid_search: 25,
  shopping: 20,
  affiliate: 20,
  influencer: 10,
  brand_search: 8,
  video: 7,
  retargeting: 6,
  social: 5,
  audio: 5,
  sms: 5,
  display: 3,
  email: 2,
};
const UNKNOWN = 5;
/** Of revenue, what marketing costs: each shop has its own part, whatever its channels do. */
const SPEND_SHARE = { least: 0.08, most: 0.28 } as const;

/**
 * Price of a touch per channel, major units; 0 for unpaid ones. Prices know nothing of effects.
 *
 * @param u uniform: where between the least and the most share of revenue this shop's spend is
 */
export function pricesOf({ channels, orderValue, organicOrdersPerUser }: WorldSpec, u: number): number[] {
  const visits = channels.reduce((sum, { paid, touchesPerUser }) => (paid ? sum : sum + touchesPerUser), 0);
  const touches = channels.map(({ touchesPerUser, perVisit }) => touchesPerUser + perVisit * visits);
  const relative = channels.map(({ name, paid }) => (paid ? (RELATIVE[name] ?? UNKNOWN) : 0));
  const bill = relative.reduce((sum, price, c) => sum + price * touches[c]!, 0);
  const ordersPerUser = channels.reduce((sum, { effect }, c) => sum + effect * touches[c]!, organicOrdersPerUser);
  const revenue = ordersPerUser * orderValue.median * Math.exp(orderValue.spread ** 2 / 2);
  const share = SPEND_SHARE.least * (SPEND_SHARE.most / SPEND_SHARE.least) ** u;
  return relative.map((price) => (price * share * revenue) / bill);
}
