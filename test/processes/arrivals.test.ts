import { Arrivals } from '../../processes/arrivals.ts';

test('an address may come so often at once, then at an even rate; others are not concerned', () => {
  const arrivals = new Arrivals({ burst: 5, perSecond: 2 });
  const letIn = (address: string, atMs: number, times: number) =>
    Array.from({ length: times }, () => arrivals.isTooFast(address, atMs)).filter((isTooFast) => !isTooFast).length;
  expect(letIn('a', 0, 8)).toBe(5);
  expect(letIn('b', 0, 3)).toBe(3);
  expect(letIn('a', 999, 3)).toBe(1);
  expect(letIn('a', 1_400, 3)).toBe(1);
  expect(letIn('a', 60_000, 9)).toBe(5);
  // A clock that was set back gives nothing and takes nothing.
  expect(letIn('a', 0, 1)).toBe(0);
});

test('what is given back may be used again, and no more than that', () => {
  const arrivals = new Arrivals({ burst: 2, perSecond: 0 });
  const isTooFast = () => arrivals.isTooFast('a', 0);
  arrivals.giveBack('a');
  expect([isTooFast(), isTooFast(), isTooFast()]).toEqual([false, false, true]);
  arrivals.giveBack('a');
  expect([isTooFast(), isTooFast()]).toEqual([false, true]);
  for (let time = 0; time < 5; time += 1) arrivals.giveBack('a');
  expect([isTooFast(), isTooFast(), isTooFast()]).toEqual([false, false, true]);
});

test('who has not come for long is forgotten once many others have', () => {
  const arrivals = new Arrivals({ burst: 1, perSecond: 0 });
  expect(arrivals.isTooFast('a', 0)).toBe(false);
  expect(arrivals.isTooFast('a', 0)).toBe(true);
  for (let other = 0; other < 10_000; other += 1) arrivals.isTooFast(`other ${other}`, 0);
  expect(arrivals.isTooFast('a', 0)).toBe(false);
});
