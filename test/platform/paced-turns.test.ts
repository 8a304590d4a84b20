import { setImmediate as endOfTurn } from 'node:timers/promises';
import { PacedTurns } from '../../platform/paced-turns.ts';

const PIECE_MS = 20;
function work(): void {
  for (const endMs = performance.now() + PIECE_MS; performance.now() < endMs;);
}

test('between two pieces the thread is free for as long as one took, and other tenants come in between', async () => {
  const turns = new PacedTurns();
  const order: string[] = [];
  const beginnings: number[] = [];
  const piece = async (tenant: string): Promise<void> => {
    const over = await turns.take(tenant);
    beginnings.push(performance.now());
    order.push(tenant);
    over();
    work();
  };
  const crowd = [1, 2, 3, 4].map(() => piece('crowd'));
  await endOfTurn();
  await Promise.all([...crowd, piece('neighbour')]);
  // The one that was there first goes on; of those who wait the neighbour has had the least.
  expect(order).toEqual(['crowd', 'neighbour', 'crowd', 'crowd', 'crowd']);
  for (const [index, begun] of beginnings.entries())
    if (index > 0) expect(begun - beginnings[index - 1]!).toBeGreaterThanOrEqual(2 * PIECE_MS - 3);
});

test('alone, a piece begins before the event loop comes round', async () => {
  const turns = new PacedTurns();
  const order: string[] = [];
  const round = endOfTurn().then(() => order.push('round'));
  (await turns.take('a').then((over) => (order.push('piece'), over)))();
  await round;
  expect(order).toEqual(['piece', 'round']);
});
