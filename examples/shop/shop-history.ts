import { CHANNELS, isPaid } from './marketing-plan.ts';
import type { ShopCalendar } from './shop-calendar.ts';
import { playLife } from './shopper-life.ts';
import { drawShopper, type Shopper } from './shopper.ts';

export interface Touch {
  readonly userId: string;
  /** Seconds since the epoch. */
  timeS: number;
  readonly channel: number;
  readonly campaign: number;
  readonly click: boolean;
}

export interface Order {
  readonly userId: string;
  readonly timeS: number;
  readonly cents: number;
  readonly newCustomer: boolean;
}

/** What one person did, each list in order of time; a touch never shares its second with another one of the person. */
export interface UserHistory {
  readonly touches: readonly Touch[];
  readonly orders: readonly Order[];
}

/** What a set of channels truly moved: the orders that vanish when their effect is switched off. */
export interface TrueEffect {
  incrementalCents: number;
  incrementalOrders: number;
}

export interface ShopHistory {
  readonly users: readonly UserHistory[];
  /** Per index of `CHANNELS`. */
  readonly effects: readonly TrueEffect[];
  /** All marketing switched off at once. Not the sum of the channels: their pulls have diminishing returns. */
  readonly allMarketing: TrueEffect;
}

const ALL_PAID = CHANNELS.reduce((mask, _, channel) => (isPaid(channel) ? mask | (1 << channel) : mask), 0);

/**
 * Plays every shopper's life once as it was, and again without each channel that touched the shopper,
 * on the same random numbers. Lives that a channel never touched need no replay, which makes the truth cheap.
 */
export function playHistory(seed: number, shoppers: number, calendar: ShopCalendar): ShopHistory {
  const users: UserHistory[] = [];
  const effects = CHANNELS.map((): TrueEffect => ({ incrementalCents: 0, incrementalOrders: 0 }));
  const allMarketing: TrueEffect = { incrementalCents: 0, incrementalOrders: 0 };

  for (let index = 0; index < shoppers; index += 1) {
    const shopper = drawShopper(seed, index, calendar);
    const history = record(shopper, calendar);
    if (history.touches.length === 0) continue;
    users.push(history);
    const total = sumOrders(history.orders);
    const reached = shopper.touches.reduce((mask, touch) => mask | (1 << touch.channel), 0) & ALL_PAID;
    const charge = (effect: TrueEffect, muted: number): void => {
      const without = replay(shopper, calendar, muted);
      effect.incrementalCents += total.cents - without.cents;
      effect.incrementalOrders += total.orders - without.orders;
    };
    for (let channel = 0; channel < CHANNELS.length; channel += 1) {
      if ((reached & (1 << channel)) !== 0 && CHANNELS[channel]!.ordersPerTouch > 0)
        charge(effects[channel]!, 1 << channel);
    }
    if (reached !== 0) charge(allMarketing, ALL_PAID);
  }
  return { users, effects, allMarketing };
}

function record(shopper: Shopper, calendar: ShopCalendar): UserHistory {
  const userId = shopper.id;
  const touches: Touch[] = [];
  const orders: Order[] = [];
  playLife(shopper, calendar, 0, {
    touch: (offsetS, channel, campaign, click) =>
      touches.push({ userId, timeS: calendar.startS + offsetS, channel, campaign, click }),
    order: (offsetS, cents, newCustomer) =>
      orders.push({ userId, timeS: calendar.startS + offsetS, cents, newCustomer }),
  });
  touches.sort((a, b) => a.timeS - b.timeS);
  // User, time, channel and campaign are a touch's natural key: two of them in one second would count as one.
  for (let i = 1; i < touches.length; i += 1)
    touches[i]!.timeS = Math.max(touches[i]!.timeS, touches[i - 1]!.timeS + 1);
  return { touches, orders };
}

function replay(shopper: Shopper, calendar: ShopCalendar, muted: number): { cents: number; orders: number } {
  const sums = { cents: 0, orders: 0 };
  playLife(shopper, calendar, muted, {
    order(_, cents) {
      sums.cents += cents;
      sums.orders += 1;
    },
  });
  return sums;
}

function sumOrders(orders: readonly Order[]): { cents: number; orders: number } {
  return { cents: orders.reduce((sum, order) => sum + order.cents, 0), orders: orders.length };
}
