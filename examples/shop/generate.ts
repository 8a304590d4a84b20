import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHANNELS, isPaid } from './marketing-plan.ts';
import { shopCalendar, type ShopCalendar } from './shop-calendar.ts';
import {
  eventLines,
  orderLines,
  pathLines,
  spendLines,
  touchpointLines,
  touchpointObjects,
  writeLines,
} from './shop-files.ts';
import { playHistory, type ShopHistory, type TrueEffect } from './shop-history.ts';

export const SHOP_NAME = 'Tarn & Thistle Outfitters';
export const DEFAULT_SEED = 1;
export const DEFAULT_SHOPPERS = 12_000;

export interface ShopRequest {
  /** Made when it is not there; files of the same name are replaced. */
  readonly directory: string;
  readonly seed: number;
  /** Last day of the data, `YYYY-MM-DD` in UTC. */
  readonly endDate: string;
  /** People in the shop's reach; 12,000 make about 135,000 touchpoints. */
  readonly users?: number;
}

/** Paths of what was written. */
export interface ShopFiles {
  readonly touchpoints: string;
  /** The same touchpoints as gzipped NDJSON. */
  readonly touchpointsNdjson: string;
  readonly orders: string;
  readonly spend: string;
  /** Touches and orders in one table. */
  readonly events: string;
  /** Journeys added up by path. */
  readonly paths: string;
  /** What each channel truly moved. */
  readonly truth: string;
}

/**
 * Writes the example shop: half a year of touchpoints, orders and spend of an invented outfitter, and the truth
 * about its channels. The same seed, end date and number of users give the same bytes.
 * Throws a RangeError for an impossible end date or number of users, and the file system's errors.
 */
export async function generateShop({
  directory,
  seed,
  endDate,
  users = DEFAULT_SHOPPERS,
}: ShopRequest): Promise<ShopFiles> {
  if (!Number.isInteger(users) || users < 1) throw new RangeError('users must be a whole number of at least 1');
  const calendar = shopCalendar(endDate);
  const history = playHistory(seed, users, calendar);
  const touches = history.users.flatMap((user) => user.touches).toSorted((a, b) => a.timeS - b.timeS);
  const orders = history.users.flatMap((user) => user.orders).toSorted((a, b) => a.timeS - b.timeS);

  await mkdir(directory, { recursive: true });
  const files: ShopFiles = {
    touchpoints: join(directory, 'touchpoints.csv'),
    touchpointsNdjson: join(directory, 'touchpoints.ndjson.gz'),
    orders: join(directory, 'orders.csv'),
    spend: join(directory, 'spend.csv'),
    events: join(directory, 'events.csv'),
    paths: join(directory, 'paths.csv'),
    truth: join(directory, 'truth.json'),
  };
  await Promise.all([
    writeLines(files.touchpoints, touchpointLines(touches)),
    writeLines(files.touchpointsNdjson, touchpointObjects(touches), 'gzip'),
    writeLines(files.orders, orderLines(orders)),
    writeLines(files.spend, spendLines(touches, calendar, seed)),
    writeLines(files.events, eventLines(touches, orders)),
    writeLines(files.paths, pathLines(history.users)),
    writeFile(files.truth, `${JSON.stringify(describeTruth(history, calendar, seed), null, 2)}\n`),
  ]);
  return files;
}

/** What `truth.json` says. Money in major units. */
export interface ShopTruth {
  readonly shop: string;
  readonly seed: number;
  readonly date_range: readonly [string, string];
  readonly currency: 'USD';
  readonly method: string;
  readonly orders: number;
  readonly revenue: number;
  /** Revenue that vanishes when all marketing is switched off at once; the rest is the baseline. */
  readonly marketing_incremental_revenue: number;
  readonly baseline_revenue: number;
  readonly channels: Readonly<
    Record<
      string,
      {
        readonly incremental_revenue: number;
        readonly incremental_orders: number;
        readonly share: number;
        readonly touches: number;
      }
    >
  >;
}

function describeTruth(history: ShopHistory, calendar: ShopCalendar, seed: number): ShopTruth {
  const orders = history.users.flatMap((user) => user.orders);
  const touches = CHANNELS.map(() => 0);
  for (const user of history.users) for (const touch of user.touches) touches[touch.channel]! += 1;
  const revenueCents = orders.reduce((sum, order) => sum + order.cents, 0);
  const sumOfChannels = history.effects.reduce((sum, effect) => sum + effect.incrementalCents, 0);
  const paid = CHANNELS.flatMap((channel, index): (readonly [string, TrueEffect, number])[] =>
    isPaid(index) ? [[channel.name, history.effects[index]!, touches[index]!]] : [],
  );
  return {
    shop: SHOP_NAME,
    seed,
    date_range: [calendar.dates[0]!, calendar.dates.at(-1)!],
    currency: 'USD',
    method:
      'Every shopper was simulated again without the effect of one channel, on the same random numbers. The orders ' +
      'that vanish are what the channel caused. share = part of the sum over channels.',
    orders: orders.length,
    revenue: revenueCents / 100,
    marketing_incremental_revenue: history.allMarketing.incrementalCents / 100,
    baseline_revenue: (revenueCents - history.allMarketing.incrementalCents) / 100,
    channels: Object.fromEntries(
      paid.map(([name, effect, count]) => [
        name,
        {
          incremental_revenue: effect.incrementalCents / 100,
          incremental_orders: effect.incrementalOrders,
          share: sumOfChannels === 0 ? 0 : Number((effect.incrementalCents / sumOfChannels).toFixed(4)),
          touches: count,
        },
      ]),
    ),
  };
}
