import { seededRandom } from '../../compute/numerics/random.ts';
import { DAY_S } from '../../compute/run-options.ts';
import type { EventRow } from './reference-data.ts';

/** What is planted into a shop of which everything else can be known. */
export interface Plants {
  readonly days?: number;
  /** ads that follow people's own visits, within a day and a half */
  readonly retargeting?: boolean;
  /** people who come by themselves, and click a paid link on the way */
  readonly brandClicks?: boolean;
  /** ads that make people look the shop up */
  readonly video?: boolean;
  /** orders that stand under another id than the visits before them */
  readonly splitOrders?: number;
  /** touches of a channel with hardly any */
  readonly rareTouches?: number;
  /** a part of the visits that come by a search: a second placebo */
  readonly organic?: boolean;
  /** visits by the shop's own magazine, taken for unpaid; the part of them that sets off an order */
  readonly magazine?: number;
  /** days from which on display ads work; from the first where absent */
  readonly displayWorksFrom?: number;
  /** delays, in days, of the orders that display ads set off; 0.2 to 4.2 where absent */
  readonly displayDelay?: readonly [from: number, to: number];
  /** e-mail to all but this part of the people on their second visit within a week */
  readonly listLeavesOut?: number;
  /** of those who would have ordered in the days after a coupon, the part that does not */
  readonly couponTakesAway?: number;
}

/**
 * People who need something for a week: they visit by themselves then, and one in three orders. Display ads reach
 * anybody at any time and set off an order in one of twenty cases.
 */
export function plantedShop(people: number, plants: Plants = {}): EventRow[] {
  const random = seededRandom(20_261_124);
  const days = plants.days ?? 70;
  const rows: EventRow[] = [];
  const add = (user: string, day: number, channel: string, conversion = false): void => {
    if (day >= 0 && day < days)
      rows.push({ user, timeS: Math.floor(day * DAY_S), channel, conversion, value: conversion ? 50 : 0 });
  };
  for (let person = 0; person < people; person++) {
    const user = `u${person}`;
    const order = (day: number): void =>
      add(random() < (plants.splitOrders ?? 0) ? `${user}-other` : user, day, '', true);
    const ownDoor = (): string => (plants.organic === true && random() < 0.5 ? 'organic_search' : 'direct');
    let lastVisit = -Infinity;
    const isOnList = plants.listLeavesOut !== undefined && random() >= plants.listLeavesOut;
    const visit = (day: number): void => {
      add(user, day, plants.brandClicks === true && random() < 0.3 ? 'brand' : ownDoor());
      if (isOnList && Math.abs(day - lastVisit) < 7) add(user, Math.max(day, lastVisit) + 0.1, 'list');
      lastVisit = day;
      if (plants.retargeting === true && random() < 0.6) add(user, day + 0.2 + 1.3 * random(), 'retargeting');
    };
    for (let n = 0; n < 2; n++) visit(days * random());
    if (random() < 0.4) {
      const start = days * random();
      for (let n = 0; n < 3; n++) visit(start + 7 * random());
      const coupon = plants.couponTakesAway !== undefined && random() < 0.5;
      if (coupon) add(user, start + 3 * random(), 'coupon');
      if (random() < 1 / 3 && !(coupon && random() < plants.couponTakesAway!)) order(start + 5 + 2 * random());
    }
    const [soonest, latest] = plants.displayDelay ?? [0.2, 4.2];
    for (let n = 0; n < 2; n++) {
      const day = days * random();
      add(user, day, 'display');
      if (random() < 0.05 && day >= (plants.displayWorksFrom ?? 0))
        order(day + soonest + (latest - soonest) * random());
    }
    if (plants.magazine !== undefined)
      for (let n = 0; n < 2; n++) {
        const day = days * random();
        add(user, day, 'magazine');
        if (random() < plants.magazine) order(day + 0.1 + 3 * random());
      }
    if (plants.video === true && random() < 0.6) {
      const day = days * random();
      add(user, day, 'video');
      for (let n = 0; n < 2; n++) if (random() < 0.4) visit(day + 0.1 + 5 * random());
    }
    if (person < (plants.rareTouches ?? 0)) add(user, (days / 3) * random(), 'podcast');
  }
  return rows;
}
