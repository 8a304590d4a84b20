import { sampleUsers } from '../../../compute/evidence/user-sample.ts';
import type { EventTable } from '../../../compute/journey-tables.ts';
import { seededRandom } from '../../../compute/numerics/random.ts';

const USERS = 30_000;

interface Shopper {
  readonly hash: number;
  readonly times: readonly number[];
  readonly channels: readonly number[];
  readonly orders: readonly (number | null)[];
}

function shoppers(): Shopper[] {
  const random = seededRandom(7);
  return Array.from({ length: USERS }, () => {
    const events = Math.floor(random() * 6);
    return {
      hash: Math.floor(random() * 2 ** 32),
      times: Array.from({ length: events }, (_, i) => i + random()),
      channels: Array.from({ length: events }, () => Math.floor(random() * 3)),
      orders: Array.from({ length: events }, () => (random() < 0.2 ? Math.round(random() * 1000) : null)),
    };
  });
}

function tableOf(people: readonly Shopper[]): EventTable {
  let events = 0;
  return {
    channels: ['a', 'b', 'c'],
    userStart: Uint32Array.from([0, ...people.map(({ times }) => (events += times.length))]),
    userHash: Uint32Array.from(people, ({ hash }) => hash),
    timeS: Float64Array.from(people.flatMap(({ times }) => times)),
    channel: Uint16Array.from(people.flatMap(({ channels }) => channels)),
    conversion: Uint8Array.from(people.flatMap(({ orders }) => orders.map((order) => (order === null ? 0 : 1)))),
    value: Float64Array.from(people.flatMap(({ orders }) => orders.filter((order) => order !== null))),
  };
}

test('a sample holds whole users with their own events and order values, the same ones every time', () => {
  const people = shoppers();
  const table = tableOf(people);
  const sample = sampleUsers(table, 2_000, () => undefined);
  expect(sample.userHash.length).toBeGreaterThan(1_700);
  expect(sample.userHash.length).toBeLessThan(2_300);
  const sampled = new Set(sample.userHash);
  expect(sample).toEqual(tableOf(people.filter(({ hash }) => sampled.has(hash))));
  expect(sampleUsers(table, 2_000, () => undefined)).toEqual(sample);
});

test('fewer users than are asked for are taken as they are; a look at the cancel flag ends it', () => {
  const table = tableOf(shoppers());
  expect(sampleUsers(table, USERS, () => undefined)).toBe(table);
  const cancelled = (): void => {
    throw new Error('cancelled');
  };
  expect(() => sampleUsers(table, 2_000, cancelled)).toThrow('cancelled');
});
