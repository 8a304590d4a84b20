import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { aggregatePaths } from './journey-paths.ts';
import { CHANNELS } from './marketing-plan.ts';
import { uniformAt } from './seeded-random.ts';
import type { ShopCalendar } from './shop-calendar.ts';
import type { Order, Touch, UserHistory } from './shop-history.ts';

const CHUNK_CHARACTERS = 65_536;

/** Writes lines to a file, a chunk at a time, gzipped on request. */
export async function writeLines(
  file: string,
  lines: Iterable<string>,
  encoding: 'identity' | 'gzip' = 'identity',
): Promise<void> {
  const chunks = Readable.from(chunked(lines), { objectMode: false });
  if (encoding === 'gzip') await pipeline(chunks, createGzip({ level: 4 }), createWriteStream(file));
  else await pipeline(chunks, createWriteStream(file));
}

function* chunked(lines: Iterable<string>): Generator<Buffer> {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length >= CHUNK_CHARACTERS) {
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}

/** `touchpoints.csv`, the header first. */
export function* touchpointLines(touches: readonly Touch[]): Generator<string> {
  yield 'user_id,event_id,timestamp,channel,campaign,source,medium,cost,event_type';
  for (const [index, touch] of touches.entries()) {
    const { name, source, medium, campaigns, costPerTouch } = CHANNELS[touch.channel]!;
    const time = isoSeconds(touch.timeS);
    const campaign = campaigns[touch.campaign];
    const type = touch.click ? 'click' : 'view';
    yield `${touch.userId},e${index + 1},${time},${name},${campaign},${source},${medium},${costPerTouch},${type}`;
  }
}

/** `touchpoints.ndjson`: the same rows as objects. */
export function* touchpointObjects(touches: readonly Touch[]): Generator<string> {
  for (const [index, touch] of touches.entries()) {
    const { name, source, medium, campaigns, costPerTouch } = CHANNELS[touch.channel]!;
    yield JSON.stringify({
      user_id: touch.userId,
      event_id: `e${index + 1}`,
      timestamp: isoSeconds(touch.timeS),
      channel: name,
      campaign: campaigns[touch.campaign],
      source,
      medium,
      cost: costPerTouch,
      event_type: touch.click ? 'click' : 'view',
    });
  }
}

/** `orders.csv`, the header first; revenue in major units. */
export function* orderLines(orders: readonly Order[]): Generator<string> {
  yield 'order_id,user_id,timestamp,revenue,currency,new_customer';
  for (const [index, order] of orders.entries()) {
    const id = `TT-${100_001 + index}`;
    yield `${id},${order.userId},${isoSeconds(order.timeS)},${decimal(order.cents)},USD,${order.newCustomer}`;
  }
}

/** Touches and orders in one table: an order is a row of its own without a channel. */
export function* eventLines(touches: readonly Touch[], orders: readonly Order[]): Generator<string> {
  yield 'user_id,timestamp,channel,campaign,cost,conversion,revenue';
  let next = 0;
  for (const touch of touches) {
    for (let order = orders[next]; order !== undefined && order.timeS < touch.timeS; order = orders[next]) {
      next += 1;
      yield orderEventLine(order);
    }
    const { name, campaigns, costPerTouch } = CHANNELS[touch.channel]!;
    yield `${touch.userId},${isoSeconds(touch.timeS)},${name},${campaigns[touch.campaign]},${costPerTouch},0,0`;
  }
  for (const order of orders.slice(next)) yield orderEventLine(order);
}

function orderEventLine(order: Order): string {
  return `${order.userId},${isoSeconds(order.timeS)},,,0,1,${decimal(order.cents)}`;
}

/**
 * What the advertising platforms charge per day and campaign: the touches' costs, a little more or less,
 * as invoices differ from click logs. Impressions stay empty where a channel has none to report.
 */
export function* spendLines(touches: readonly Touch[], calendar: ShopCalendar, seed: number): Generator<string> {
  yield 'date,channel,campaign,spend,impressions,clicks';
  const groups = new Map<number, { touches: number; clicks: number }>();
  const slots = 8;
  for (const touch of touches) {
    if (CHANNELS[touch.channel]!.costPerTouch === 0) continue;
    const day = Math.floor((touch.timeS - calendar.startS) / 86_400);
    const key = (day * CHANNELS.length + touch.channel) * slots + touch.campaign;
    const group = groups.get(key) ?? { touches: 0, clicks: 0 };
    groups.set(key, group);
    group.touches += 1;
    if (touch.click) group.clicks += 1;
  }
  for (const [key, group] of [...groups].toSorted(([a], [b]) => a - b)) {
    const channel = CHANNELS[Math.floor(key / slots) % CHANNELS.length]!;
    const day = Math.floor(key / slots / CHANNELS.length);
    const noise = 0.9 + 0.2 * uniformAt(seed, key, 0);
    const cents = Math.max(1, Math.round(100 * group.touches * channel.costPerTouch * noise));
    const impressions =
      channel.impressionsPerTouch === 0 ? '' : Math.round(group.touches * channel.impressionsPerTouch * noise);
    const campaign = channel.campaigns[key % slots];
    yield `${calendar.dates[day]},${channel.name},${campaign},${decimal(cents)},${impressions},${group.clicks}`;
  }
}

/** `paths.csv`: journeys added up by path, the header first. */
export function* pathLines(users: readonly UserHistory[]): Generator<string> {
  yield 'path,conversions,revenue,nulls';
  for (const [path, { conversions, cents, nulls }] of aggregatePaths(users))
    yield `${path},${conversions},${decimal(cents)},${nulls}`;
}

function decimal(cents: number): string {
  return (cents / 100).toFixed(2);
}

function isoSeconds(timeS: number): string {
  return `${new Date(timeS * 1000).toISOString().slice(0, 19)}Z`;
}
