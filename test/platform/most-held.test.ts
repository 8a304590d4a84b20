import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { mostHeld } from '../../platform/most-held.ts';

const reader = (group: string, bytes: number) => ({ group, bytes });

test('nobody goes while there is room', () => {
  expect(mostHeld([reader('a', 60), reader('b', 40)], 100)).toEqual([]);
});

test('the group with most goes first, the fullest of it before the others', () => {
  const neighbour = reader('neighbour', 50);
  const crowd = [10, 30, 20, 40].map((bytes) => reader('crowd', bytes));
  expect(mostHeld([neighbour, ...crowd], 100)).toEqual(
    [reader('crowd', 40), reader('neighbour', 50)].slice(0, 1).concat(reader('crowd', 30)),
  );
});

test('what stays fits, and no more goes than has to', () => {
  const readers = array(record({ group: constantFrom('a', 'b', 'c'), bytes: integer({ min: 0, max: 1_000 }) }), {
    maxLength: 40,
  });
  assert(
    property(readers, integer({ min: 0, max: 5_000 }), (all, maxBytes) => {
      const going = mostHeld(all, maxBytes);
      const bytes = (some: typeof all) => some.reduce((sum, each) => sum + each.bytes, 0);
      const left = bytes(all) - bytes(going);
      expect(left).toBeLessThanOrEqual(maxBytes);
      if (going.length > 0) expect(left + going.at(-1)!.bytes).toBeGreaterThan(maxBytes);
    }),
  );
});
