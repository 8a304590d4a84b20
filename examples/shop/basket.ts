import { deriveSeed, randomStream } from './seeded-random.ts';

/** Prices of the shop's shelf, in cents: socks to tents. */
const SHELF_CENTS = [
  990, 1295, 1495, 1795, 1995, 2295, 2495, 2995, 3495, 3995, 4495, 4995, 5995, 6995, 7995, 8995, 10_995, 12_995, 15_995,
  21_900,
] as const;
const SHIPPING_CENTS = 495;
const FREE_SHIPPING_FROM_CENTS = 6000;

/**
 * What an order of this shopper on this day comes to. Depends on nothing else, so that every counterfactual sells the
 * same basket.
 */
export function basketCents(seed: number, day: number, sale: boolean): number {
  const random = randomStream(deriveSeed(seed, 1000 + day));
  let goods = 0;
  for (let items = 1 + random.poisson(0.7); items > 0; items -= 1) {
    // The power bends towards the front of the shelf: cheap things sell more often.
    goods += SHELF_CENTS[Math.floor(random.uniform() ** 1.6 * SHELF_CENTS.length)]!;
  }
  const paid = sale ? Math.round(goods * 0.8) : goods;
  return paid + (paid < FREE_SHIPPING_FROM_CENTS ? SHIPPING_CENTS : 0);
}
