import { CHANNELS, channelIndex, isPaid } from '../../../examples/shop/marketing-plan.ts';
import { shopCalendar } from '../../../examples/shop/shop-calendar.ts';
import { playHistory } from '../../../examples/shop/shop-history.ts';
import { playLife } from '../../../examples/shop/shopper-life.ts';
import { drawShopper, type Shopper } from '../../../examples/shop/shopper.ts';

const calendar = shopCalendar('2026-06-30');

function ordersOf(shopper: Shopper, muted: number): readonly (readonly [number, number])[] {
  const orders: [number, number][] = [];
  playLife(shopper, calendar, muted, { order: (offsetS, cents) => orders.push([offsetS, cents]) });
  return orders;
}

describe('the counterfactual', () => {
  const shoppers = Array.from({ length: 400 }, (_, index) => drawShopper(21, index, calendar));

  test('switching off a channel that never touched a shopper changes nothing in that life', () => {
    for (const shopper of shoppers) {
      const untouched = CHANNELS.map((_, channel) => channel).filter(
        (channel) => !shopper.touches.some((touch) => touch.channel === channel),
      );
      for (const channel of untouched) expect(ordersOf(shopper, 1 << channel)).toEqual(ordersOf(shopper, 0));
    }
  });

  test('before the first touch of a channel, the life without it is the same life', () => {
    const meta = channelIndex('meta_ads');
    for (const shopper of shoppers) {
      const firstS = shopper.touches.find((touch) => touch.channel === meta)?.offsetS ?? Number.POSITIVE_INFINITY;
      const before = (orders: readonly (readonly [number, number])[]) => orders.filter(([offsetS]) => offsetS < firstS);
      expect(before(ordersOf(shopper, 1 << meta))).toEqual(before(ordersOf(shopper, 0)));
    }
  });

  test('a life can be watched or not: the orders are the same', () => {
    for (const shopper of shoppers) {
      const watched: [number, number][] = [];
      playLife(shopper, calendar, 0, {
        touch: () => undefined,
        order: (offsetS, cents) => watched.push([offsetS, cents]),
      });
      expect(watched).toEqual(ordersOf(shopper, 0));
    }
  });
});

describe('the truth', () => {
  const history = playHistory(2, 2500, calendar);
  const revenue = history.users.flatMap((user) => user.orders).reduce((sum, order) => sum + order.cents, 0);
  const effect = (name: Parameters<typeof channelIndex>[0]): number =>
    history.effects[channelIndex(name)]!.incrementalCents;

  test('a channel without effect moved nothing, unpaid visits neither', () => {
    expect(effect('affiliate')).toBe(0);
    for (const [channel, { incrementalCents }] of history.effects.entries())
      if (!isPaid(channel)) expect(incrementalCents).toBe(0);
  });

  test('marketing moved a part of the revenue, the prospecting channels more than those that follow buyers', () => {
    const share = history.allMarketing.incrementalCents / revenue;
    expect(share).toBeGreaterThan(0.15);
    expect(share).toBeLessThan(0.55);
    expect(effect('meta_ads')).toBeGreaterThan(effect('retargeting'));
    expect(effect('google_ads')).toBeGreaterThan(effect('brand_search'));
  });

  test('last click tells another story: clicks before orders are mostly brand search, coupons, retargeting', () => {
    const last = CHANNELS.map(() => 0);
    for (const { touches, orders } of history.users) {
      for (const order of orders)
        last[touches.findLast((touch) => touch.timeS <= order.timeS)!.channel]! += order.cents;
    }
    for (const name of ['brand_search', 'affiliate', 'retargeting'] as const)
      expect(last[channelIndex(name)]!).toBeGreaterThan(2 * effect(name));
    for (const name of ['meta_ads', 'influencer', 'email'] as const)
      expect(last[channelIndex(name)]!).toBeLessThan(0.5 * effect(name));
  });
});
