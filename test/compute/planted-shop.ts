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
    const visit = (day: number): void => {
      add(user, day, plants.brandClicks === true && random() < 0.3 ? 'brand' : 'direct');
      if (plants.retargeting === true && random() < 0.6) add(user, day + 0.2 + 1.3 * random(), 'retargeting');
    };
    for (let n = 0; n < 2; n++) visit(days * random());
    if (random() < 0.4) {
      const start = days * random();
      for (let n = 0; n < 3; n++) visit(start + 7 * random());
      if (random() < 1 / 3) order(start + 5 + 2 * random());
    }
    for (let n = 0; n < 2; n++) {
      const day = days * random();
      add(user, day, 'display');
      if (random() < 0.05) order(day + 0.2 + 4 * random());
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
