import { seededRandom } from '../../compute/numerics/random.ts';
import { DAY_S } from '../../compute/run-options.ts';
import type { EventRow } from './reference-data.ts';

export interface Shoppers {
  readonly rows: readonly EventRow[];
  /** conversions that a touch of the channel set off, by name */
  readonly caused: Readonly<Record<string, number>>;
}

const DAYS = 70;
const START_S = 1_735_689_600;
/**
 * touches per day: at all times, and on top at the height of a user's interest; orders and unpaid visits that a touch
 * sets off
 */
const CHANNELS = {
  direct: { always: 0.008, interested: 0.2, orders: 0, visits: 0 },
  organic: { always: 0.012, interested: 0.25, orders: 0, visits: 0 },
  display: { always: 0.05, interested: 0.02, orders: 0.008, visits: 0 },
  video: { always: 0.03, interested: 0, orders: 0.006, visits: 0.3 },
  search: { always: 0.003, interested: 0.15, orders: 0.03, visits: 0 },
  brand: { always: 0.002, interested: 0.15, orders: 0, visits: 0 },
} as const;

/**
 * Users in and out of the market: unpaid visits, paid touches and organic orders follow one interest that decays within
 * a week. `works` false: the same people, and no touch sets off an order or a visit.
 */
export function simulateShoppers(users: number, seed: number, works = true): Shoppers {
  const random = seededRandom(seed);
  const rows: EventRow[] = [];
  const caused: Record<string, number> = { display: 0, video: 0, search: 0, brand: 0 };
  const delayed = (timeS: number, meanDays: number): number => timeS - Math.log(1 - random()) * meanDays * DAY_S;
  const endS = START_S + DAYS * DAY_S;
  for (let u = 0; u < users; u++) {
    const user = `${seed}-${u}`;
    const add = (timeS: number, channel: string, conversion: boolean): void => {
      if (timeS < endS)
        rows.push({ user, timeS: Math.floor(timeS), channel, conversion, value: conversion ? 20 + 60 * random() : 0 });
    };
    const height = random() < 0.5 ? 2 * random() : 0;
    const onset = random() * (DAYS + 10) - 10;
    for (let day = 0; day < DAYS; day++) {
      const interest = day >= onset ? height * Math.exp((onset - day) / 6) : 0;
      const now = (): number => START_S + (day + random()) * DAY_S;
      if (random() < 0.0003 + 0.02 * interest) add(now(), '', true);
      for (const [channel, { always, interested, orders, visits }] of Object.entries(CHANNELS)) {
        if (random() >= always + interested * interest) continue;
        const touched = now();
        add(touched, channel, false);
        const [orderDraw, visitDraw, orderTime, visitTime] = [
          random(),
          random(),
          delayed(touched, 3),
          delayed(touched, 1),
        ];
        if (works && orderDraw < orders && orderTime < endS) {
          add(orderTime, '', true);
          caused[channel]! += 1;
        }
        if (works && visitDraw < visits) add(visitTime, 'direct', false);
      }
    }
  }
  return { rows, caused };
}
