import { dayIndex } from './auction.ts';
import { STATE, type Engine } from './engine.ts';
import { DRAW } from './person.ts';
import { EVENT } from './queue.ts';
import { normal, uniform } from './random.ts';
import { DIRECT } from './roles.ts';
import { joinLists, planCartMails, startNewsletters } from './targeting.ts';
import type { ChannelWorld } from './world.ts';

/**
 * Someone is on the site, having come by a door. `quality` is the visit's worth against an own visit (0: a curious
 * click that leaves nothing behind); `decided` people order unless a coupon that they want is missing.
 */
export function session(e: Engine, time: number, key: number, door: number, quality: number, decided: boolean): void {
  const { world, person } = e;
  // lists leave out visits of a few seconds
  if (quality > 0) joinLists(e, time, false);
  let cart = decided;
  let ordered = decided;
  if (!decided && quality > 0) {
    const chance = world.visitToCart * quality * Math.pow(person.interest, 0.25);
    cart = uniform(key, DRAW.cart) < chance;
    ordered = cart && uniform(key, DRAW.checkout) < world.cartToOrder * e.orderFactor(time);
  }
  let closing = door;
  let couponDiscount = 0;
  let couponLooked = false;
  const c = e.roles.affiliate;
  if (cart && c >= 0 && uniform(key, DRAW.coupon) < world.couponSeekers) {
    const channel = world.channels[c] as ChannelWorld;
    const found = e.served(c, time) && uniform(key, DRAW.win) < e.reach(c, time);
    if (found && ordered) {
      e.pay(c, time, key);
      closing = c;
      couponDiscount = channel.discount;
    } else if (found) {
      couponLooked = true;
    } else if (ordered && uniform(key, DRAW.couponLost) < channel.lostShare) {
      ordered = false;
    }
  }
  // the click that closes an order is told by the order's row alone; coming directly is no click
  if (e.rows !== undefined && (!ordered || closing !== door || door === DIRECT)) {
    e.rows.touch(person, time, key, door);
  }
  // commission falls due on orders alone, but the click is seen
  if (couponLooked) e.rows?.touch(person, time + 3 / 1440, key, c);
  if (ordered) placeOrder(e, time, key, closing, couponDiscount);
  if (quality > 0) {
    const worth = Math.min(1, quality);
    e.spawn(EVENT.visit, time, key, 1, world.visitToVisit * worth, world.ownKernel);
    e.spawn(EVENT.search, time, key, 2, world.visitToSearch * worth, world.ownKernel);
  }
  if (cart && !ordered) abandonCart(e, time, key);
}

function abandonCart(e: Engine, time: number, key: number): void {
  const { world } = e;
  const wish = world.cartToLaterOrder * e.roles.highestOrderFactor;
  e.spawn(EVENT.order, time, key, 3, wish, world.cartKernel);
  e.spawn(EVENT.visit, time, key, 4, world.cartToVisit, world.cartKernel);
  joinLists(e, time, true);
  planCartMails(e, time, key);
}

function placeOrder(e: Engine, sessionTime: number, key: number, closing: number, couponDiscount: number): void {
  const { world, person } = e;
  const time = sessionTime + (4 + 22 * uniform(key, DRAW.late)) / 1440;
  const spread = world.basketSpread;
  const basket = world.basket * Math.exp(spread * (normal(key, DRAW.basket) - spread / 2));
  const price = (world.priceFactor[dayIndex(world, time)] as number) * (1 - couponDiscount);
  const cents = Math.max(100, Math.round(basket * price * 100));
  if (time >= 0 && time < world.days) {
    e.orders++;
    e.cents += cents;
    if (time >= e.plan.holdFrom && time < e.plan.holdTo) {
      e.armOrders++;
      e.armCents += cents;
    }
    e.rows?.orderRow(person, time, key, closing === DIRECT ? -1 : closing, cents);
  }
  e.state[STATE.lastOrder] = time;
  e.state[STATE.customer] = 1;
  startNewsletters(e, time);
  e.spawn(EVENT.visit, time, key, 5, world.orderToVisit, world.cartKernel);
  e.spawn(EVENT.order, time, key, 6, world.orderToOrder * e.roles.highestOrderFactor, world.repeatKernel);
}
