import { setImmediate as endOfTurn } from 'node:timers/promises';
import { SequencedWatch } from '../../../services/events/sequenced-watch.ts';
import { Subscription } from '../../../platform/postgres/subscription.ts';

/** A history of so many items, whose readings are told to `reading`. */
function watch(tenant: string, items: number, reading: () => Promise<void>): SequencedWatch<number> {
  const history = Array.from({ length: items }, (_, index) => index + 1);
  return new SequencedWatch<number>(
    {
      tenant,
      news: new Subscription<number>(() => undefined),
      placeOf: (item) => item,
      read: async (after) => {
        await reading();
        return history.slice(after);
      },
      isLast: (item) => item === items,
    },
    0,
  );
}

async function replay(watched: SequencedWatch<number>, handle: (item: number) => void = () => undefined) {
  for await (const item of watched) handle(item);
}

test('histories of one tenant are read one at a time, and those of a neighbour in between', async () => {
  const begun: string[] = [];
  let ofCrowd = 0;
  let mostOfCrowd = 0;
  const reading = (tenant: string) => async (): Promise<void> => {
    begun.push(tenant);
    if (tenant === 'crowd') mostOfCrowd = Math.max(mostOfCrowd, (ofCrowd += 1));
    for (let round = 0; round < 3; round += 1) await endOfTurn();
    if (tenant === 'crowd') ofCrowd -= 1;
  };
  const crowd = Array.from({ length: 50 }, () => replay(watch('crowd', 20, reading('crowd'))));
  const neighbour = replay(watch('neighbour', 20, reading('neighbour')));
  await Promise.all([...crowd, neighbour]);
  expect(mostOfCrowd).toBe(1);
  expect(begun.indexOf('neighbour')).toBeLessThanOrEqual(2);
  expect(begun).toHaveLength(51);
});

test('the event loop goes round while histories are told, and a neighbour hears of his meanwhile', async () => {
  const told: string[] = [];
  const busy = (tenant: string) => (): void => {
    told.push(tenant);
    for (const endMs = performance.now() + 0.2; performance.now() < endMs;);
  };
  const nothing = (): Promise<void> => Promise.resolve();
  const over = Promise.all([
    ...Array.from({ length: 50 }, () => replay(watch('crowd', 20, nothing), busy('crowd'))),
    replay(watch('neighbour', 20, nothing), busy('neighbour')),
  ]).then(() => 'over');
  let rounds = 0;
  while ((await Promise.race([over, endOfTurn('round')])) === 'round') rounds += 1;
  // 200 ms of work for the crowd.
  expect(rounds).toBeGreaterThanOrEqual(20);
  expect(told.lastIndexOf('neighbour')).toBeLessThan(told.length / 4);
});

test('a watcher that leaves while it waits for its turn is not read for', async () => {
  let readings = 0;
  const reading = async (): Promise<void> => {
    readings += 1;
    await endOfTurn();
  };
  const first = replay(watch('crowd', 5, reading));
  const second = watch('crowd', 5, reading);
  const next = second.next();
  await second.return();
  expect(await next).toEqual({ done: true, value: undefined });
  await first;
  expect(readings).toBe(1);
});
