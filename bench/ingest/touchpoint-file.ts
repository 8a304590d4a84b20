import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';

const CHANNELS = [
  'direct',
  'organic_search',
  'paid_search',
  'brand_search',
  'paid_social',
  'display',
  'email',
  'affiliate',
  'retargeting',
  'referral',
  'video',
  'podcast',
];
const DAYS = 180;
const START_MS = Date.UTC(2025, 0, 1);
const LINES_PER_WRITE = 20_000;

/** mulberry32: small, seeded, good enough to make data. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const timeOf = (share: number): string =>
  `${new Date(START_MS + Math.floor(share * DAYS * 86_400_000)).toISOString().slice(0, 19)}Z`;

async function writeLines(path: string, header: string, count: number, line: (index: number) => string): Promise<void> {
  const file = createWriteStream(path);
  let lines = [header];
  for (let index = 0; index < count; index += 1) {
    lines.push(line(index));
    if (lines.length < LINES_PER_WRITE && index < count - 1) continue;
    if (!file.write(`${lines.join('\n')}\n`)) await once(file, 'drain');
    lines = [];
  }
  file.end();
  await finished(file);
}

/** Touches in the order of time, as exports have them: every chunk touches every user. About 8 per user. */
export async function writeTouchpoints(path: string, count: number): Promise<void> {
  const random = seeded(42);
  const users = Math.ceil(count * 0.12);
  await writeLines(path, 'user_id,timestamp,channel,campaign,cost', count, (index) => {
    const channel = CHANNELS[Math.floor(random() * random() * CHANNELS.length)]!;
    const campaign = `${channel}_${'abcd'[Math.floor(random() * 4)]}`;
    const user = Math.floor(random() * users);
    const cost = (random() * 2).toFixed(4);
    return `u${user},${timeOf(index / count)},${channel},${campaign},${cost}`;
  });
}

/** Orders of the same users: 3 for 100 touches. */
export async function writeConversions(path: string, touchpoints: number): Promise<void> {
  const random = seeded(43);
  const users = Math.ceil(touchpoints * 0.12);
  const count = Math.ceil(touchpoints * 0.03);
  await writeLines(path, 'order_id,user_id,timestamp,revenue,currency,new_customer', count, (index) => {
    const user = Math.floor(random() * users);
    const time = timeOf(random());
    const revenue = (20 + random() * 200).toFixed(2);
    return `o${index},u${user},${time},${revenue},EUR,${index % 2}`;
  });
}
