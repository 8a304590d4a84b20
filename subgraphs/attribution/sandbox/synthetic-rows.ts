import { createHash } from 'node:crypto';
import type { SyntheticChannel, SyntheticShop } from './synthetic-shops.ts';

/** Goes into every seed: with another one, every figure of the sandbox is another one. */
export const SEED_VERSION = 1;

/** The first day of which the sandbox has rows. */
export const FIRST_DAY = '2024-01-01';

/** Lives are counted from here. */
const ORIGIN = '2022-01-01';
const PEOPLE = 4_000;
/** A customer's days with the shop; then somebody else takes the place. */
const LIFE_DAYS = 180;
/** Draws per expected touch of a life: what demand and reach may grow to. */
const HEADROOM = 1.8;
/**
 * Times of wanting to buy: how many a life may have, each with what chance in a thousand, how many days, how many draws
 * of a visit.
 */
const EPISODES = 3;
const EPISODE_PER_MILLE = 400;
const EPISODE_DAYS = 9;
const EPISODE_VISITS = 16;
/** Orders per million touches that come without marketing: of people who want to buy, and of others. */
const WANTED_ORDERS = 45_000;
const CHANCE_ORDERS = 900;
/** An order that a touch causes follows within days; one that was wanted anyway follows its visit within minutes. */
const CAUSED_WITHIN_DAYS = 9;
const WANTED_WITHIN_S = 2_400;
/** Customers of earlier years, among ten people. */
const RETURNING_OF_TEN = 4;

/**
 * Demand in percent by weekday (Monday first) and by month; how easily people are reached, with mean 100; hours of the
 * day.
 */
const WEEKDAYS = '[98, 100, 101, 102, 108, 100, 91]';
const MONTHS = '[86, 88, 94, 98, 103, 101, 95, 93, 100, 107, 128, 134]';
const AFFINITIES = '[55, 70, 85, 110, 180]';
const HOURS = '[7, 8, 9, 10, 11, 12, 12, 13, 15, 16, 17, 18, 19, 19, 20, 20, 21, 21, 22, 23]';
const demand = (day: string): string =>
  `intDiv(${WEEKDAYS}[toDayOfWeek(${day})] * ${MONTHS}[toMonth(${day})] * (92 + 4 * (toYear(${day}) - 2024)), 10000)`;

/** Days, both inclusive, `YYYY-MM-DD`. */
export interface DayWindow {
  readonly from: string;
  readonly to: string;
}

/**
 * The statements that fill the columnar tables with the rows of some days of a shop, in their order. Whole numbers and
 * hashes only, each person and touch drawn by itself: a day's rows are the same on every machine, whichever window they
 * are made in, and making them twice changes nothing.
 */
export function syntheticRowStatements(
  shop: SyntheticShop,
  key: { readonly accountId: string; readonly dataSourceId: string },
  window: DayWindow,
): readonly string[] {
  const world = new SyntheticWorld(shop);
  const { channels } = shop;
  const source = `'${key.accountId}', '${key.dataSourceId}'`;
  const of = (values: string, name = 'channel'): string =>
    `${values}[indexOf(${texts(channels, (channel) => channel.name)}, ${name})]`;
  return [
    `INSERT INTO touchpoints (account_id, data_source_id, user_id, ts, event_id, channel, campaign, source, medium,
      cost, event_type, version)
      SELECT ${source}, lower(hex(user)), ${moment('second')}, '', ${texts(channels, ({ name }) => name)}[channel],
        campaign, ${texts(channels, (channel) => channel.source)}[channel],
        ${texts(channels, ({ medium }) => medium)}[channel], 0, if(clicked, 'click', 'view'), ${SEED_VERSION}
      FROM (${world.touches(window)}) WHERE day BETWEEN '${window.from}' AND '${window.to}'`,
    `INSERT INTO conversions (account_id, data_source_id, order_id, user_id, ts, event_id, revenue, currency,
      new_customer, conversion_event, channel, campaign, version)
      SELECT ${source}, concat('order-', lower(hex(touch))), lower(hex(user)), ${moment('ordered')}, '',
        toDecimal64(cents - refund, 4) / 100, 'USD', is_first
          AND user % 10 >= ${RETURNING_OF_TEN}, 'purchase', '', '', ${SEED_VERSION}
      FROM (${world.orders(window)}) WHERE toDate(toDateTime(ordered, 'UTC')) BETWEEN '${window.from}'
        AND '${window.to}'`,
    // What the platforms bill follows from the stored touches.
    `INSERT INTO spend (account_id, data_source_id, date, channel, campaign, spend, impressions, clicks, version)
      SELECT ${source}, day, channel, campaign,
        toDecimal64(intDiv(touches * ${of(numbers(channels, ({ centsPerTouch }) => centsPerTouch))} * (92 + noise % 17),
          100), 6) / 100,
        intDiv(touches * ${of(numbers(channels, ({ impressionsPerTouch }) => impressionsPerTouch))} * (90 + noise % 21),
          100), clicks, ${SEED_VERSION}
      FROM (
        SELECT toDate(ts) AS day, toString(channel) AS channel, toString(campaign) AS campaign, count() AS touches,
          countIf(event_type = 'click') AS clicks, ${world.draw('bill', 'day', 'cityHash64(campaign)')} AS noise
        FROM touchpoints FINAL WHERE account_id = '${key.accountId}' AND data_source_id = '${key.dataSourceId}'
          AND ts >= toDateTime64('${window.from}', 3, 'UTC')
            AND ts < toDateTime64('${window.to}', 3, 'UTC') + INTERVAL 1 DAY
        GROUP BY day, channel, campaign
      ) WHERE ${of(numbers(channels, ({ centsPerTouch }) => centsPerTouch))} > 0`,
  ];
}

/** The people of a shop, what touches them and what they order, as subqueries. */
class SyntheticWorld {
  readonly #shop: SyntheticShop;

  constructor(shop: SyntheticShop) {
    this.#shop = shop;
  }

  /**
   * The random number of some numbers, for one purpose. Its seed: the first eight bytes of SHA-256 over source, version
   * and purpose.
   */
  draw(purpose: string, ...keys: readonly string[]): string {
    const seed = createHash('sha256').update(`${this.#shop.id}/${SEED_VERSION}/${purpose}`).digest().readBigUInt64BE();
    return `cityHash64(toUInt64(${seed}), ${keys.map((key) => `toUInt64(${key})`).join(', ')})`;
  }

  /**
   * Columns: user, day, wants (to buy), touch (a random number that names it), channel (from 1), campaign, clicked,
   * second. Whole lives, which reach beyond the window.
   */
  touches(window: DayWindow): string {
    const { channels } = this.#shop;
    const names = `[${channels.map(campaignsOf).join(', ')}]`;
    const expected = (channels.reduce((sum, { reach }) => sum + reach, 0) * LIFE_DAYS) / 1_000_000;
    const draws = Math.ceil(expected * HEADROOM);
    // Of each draw, the part that becomes a touch of the channel on a day of average demand.
    const reached = bounds(channels, ({ reach }) => Math.round((reach * LIFE_DAYS) / draws));
    return `
      SELECT user, day, wants, touch, channel,
        ${names}[channel][1 + intDiv(touch, 7) %
          greatest(${numbers(channels, ({ campaigns }) => campaigns.length)}[channel], 1)] AS campaign,
        intDiv(touch, 11) % 1000 < ${numbers(channels, ({ clicksPerMille }) => clicksPerMille)}[channel] AS clicked,
        toUnixTimestamp(toDateTime(day, 'UTC')) + 3600 * ${HOURS}[1 + intDiv(touch, 13000000) % 20] + intDiv(touch,
          300000000) % 3600 AS second
      FROM (
        SELECT user, time.3 = ${EPISODE_DAYS} AS wants, ${this.draw('touch', 'user', 'time.1')} AS touch,
          time.2 + intDiv(touch, 1000000) % time.3 AS day,
          if(wants, touch % 1000000, intDiv(touch % 1000000 * 100, ${demand('day')})) AS place,
          arrayFirstIndex(bound -> place < bound, if(wants, ${bounds(channels, ({ pull }) => pull)}, ${reached})) AS
            channel
        FROM (${this.#lives(window, draws)}) ARRAY JOIN times AS time
      ) WHERE channel > 0`;
  }

  /**
   * Columns: user, touch (that it followed), ordered (seconds), cents, refund, is_first (of this life with the shop).
   */
  orders(window: DayWindow): string {
    return `
      SELECT user, touch, ${this.draw('order', 'touch')} % 1000000 AS chance,
        ${numbers(this.#shop.channels, ({ causes }) => causes)}[channel] AS caused,
          ${this.draw('basket', 'touch')} AS basket,
        second + if(chance < caused, 1200 + intDiv(basket, 1000000) % ${CAUSED_WITHIN_DAYS * 86_400},
          240 + intDiv(basket, 1000000) % ${WANTED_WITHIN_S}) AS ordered,
        1990 + basket % 5500 + if(basket % 5 = 0, 6900, 0) + if(basket % 17 = 0, 21000, 0) AS cents,
        if(${this.draw('refund', 'touch')} % 1000 < ${this.#shop.refundsPerMille},
          intDiv(cents * [100, 50, 30][1 + basket % 3], 100), 0) AS refund,
        ordered = min(ordered) OVER (PARTITION BY user) AS is_first
      FROM (${this.touches(window)}) WHERE chance < caused + if(wants, ${WANTED_ORDERS}, ${CHANCE_ORDERS})`;
  }

  /**
   * Everybody who may have rows in a window: user, and the times at which a touch is drawn, as (number, first day, days
   * to choose from): the draws of the whole life, and those of each time of wanting to buy.
   */
  #lives({ from, to }: DayWindow, draws: number): string {
    // The last touches of a life, and the orders they lead to, come after its end.
    const first = Math.floor(daysAfter(ORIGIN, from) / LIFE_DAYS) - 1;
    const last = Math.floor(daysAfter(ORIGIN, to) / LIFE_DAYS) + 1;
    return `
      SELECT user, arrayConcat(
          arrayMap(i -> (i, begins, ${LIFE_DAYS}), range(intDiv(${draws} * affinity, 100))),
          arrayFlatten(arrayMap(episode -> arrayMap(i -> (episode.1 * 1000 + i, episode.2, ${EPISODE_DAYS}),
            range(${EPISODE_VISITS})),
            arrayFilter(episode -> ${this.draw('wants', 'user', 'episode.1')} % 100000 <
              intDiv(${EPISODE_PER_MILLE} * affinity * ${demand('episode.2')}, 100),
              arrayMap(number -> (number, begins + ${this.draw('episode', 'user', 'number')} % ${LIFE_DAYS}),
                range(1, ${EPISODES + 1})))))) AS times
      FROM (
        SELECT ${this.draw('person', 'place', 'life')} AS user, ${AFFINITIES}[1 + user % 5] AS affinity,
          toDate('${ORIGIN}') + life * ${LIFE_DAYS} - ${this.draw('place', 'place')} % ${LIFE_DAYS} AS begins
        FROM (SELECT number % ${PEOPLE} AS place, ${first} + intDiv(number, ${PEOPLE}) AS life
          FROM numbers(${(last - first + 1) * PEOPLE}))
      ) WHERE begins + ${LIFE_DAYS + EPISODE_DAYS + CAUSED_WITHIN_DAYS + 1} >= toDate('${from}')
        AND begins <= toDate('${to}')`;
  }
}

/** The names of a channel's campaigns; an empty one where it has none. */
function campaignsOf({ campaigns }: SyntheticChannel): string {
  return `[${campaigns.map((name) => `'${name}'`).join(', ') || `''`}]`;
}

/** Cumulative bounds of shares in a million. */
function bounds(channels: readonly SyntheticChannel[], shareOf: (channel: SyntheticChannel) => number): string {
  let sum = 0;
  return `[${channels.map((channel) => (sum += shareOf(channel))).join(', ')}]`;
}

function numbers(channels: readonly SyntheticChannel[], of: (channel: SyntheticChannel) => number): string {
  return `[${channels.map(of).join(', ')}]`;
}

function texts(channels: readonly SyntheticChannel[], of: (channel: SyntheticChannel) => string): string {
  return `[${channels.map((channel) => `'${of(channel)}'`).join(', ')}]`;
}

function moment(second: string): string {
  return `fromUnixTimestamp64Milli(toInt64(${second}) * 1000, 'UTC')`;
}

function daysAfter(origin: string, day: string): number {
  return Math.round((Date.parse(day) - Date.parse(origin)) / 86_400_000);
}
