import { setImmediate as endOfTurn } from 'node:timers/promises';
import { BriefTurns } from '../../platform/brief-turns.ts';

function work(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs;);
}

/** How often the event loop comes round until `done` has settled. */
async function rounds(done: Promise<unknown>): Promise<number> {
  const over = done.then(() => 'over');
  for (let count = 0; ; count += 1) if ((await Promise.race([over, endOfTurn('round')])) === 'over') return count;
}

test('the event loop goes round while many pieces follow one another', async () => {
  const turns = new BriefTurns();
  const piece = async (): Promise<void> => {
    await turns.take('crowd');
    work(1);
  };
  // 200 ms of work; without turns all of it is done before the loop comes round once.
  expect(await rounds(Promise.all(Array.from({ length: 200 }, piece)))).toBeGreaterThanOrEqual(20);
});

test('pieces that cost nothing do not wait for a round of the loop each', async () => {
  const turns = new BriefTurns();
  expect(await rounds(Promise.all(Array.from({ length: 200 }, () => turns.take('crowd'))))).toBeLessThan(100);
});

test('what a piece does by promises is over before the next one begins', async () => {
  const turns = new BriefTurns();
  const order: string[] = [];
  const piece = async (name: string): Promise<void> => {
    await turns.take(name);
    order.push(`${name} begins`);
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    order.push(`${name} ends`);
  };
  await Promise.all([piece('a'), piece('b')]);
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

test('a neighbour comes behind one piece of a crowd, not behind all', async () => {
  const turns = new BriefTurns();
  const order: string[] = [];
  const piece = async (tenant: string): Promise<void> => {
    await turns.take(tenant);
    order.push(tenant);
    work(1);
  };
  const crowd = Array.from({ length: 50 }, () => piece('crowd'));
  await Promise.all([...crowd, piece('neighbour')]);
  expect(order.indexOf('neighbour')).toBe(1);
});
