import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { mostUnread } from '../../processes/unread-answers.ts';

const reader = (block: string, unreadBytes: number) => ({ block, unreadBytes });

test('nobody goes while there is room', () => {
  expect(mostUnread([reader('a', 60), reader('b', 40)], 100)).toEqual([]);
});

test('the address with most unread goes first, the fullest of its connections before the others', () => {
  const neighbour = reader('neighbour', 50);
  const crowd = [10, 30, 20, 40].map((bytes) => reader('crowd', bytes));
  expect(mostUnread([neighbour, ...crowd], 100)).toEqual([reader('crowd', 40), reader('neighbour', 50)].slice(0, 1).concat(reader('crowd', 30)));
});

test('what stays fits, and no more goes than has to', () => {
  const readers = array(record({ block: constantFrom('a', 'b', 'c'), unreadBytes: integer({ min: 0, max: 1_000 }) }), { maxLength: 40 });
  assert(
    property(readers, integer({ min: 0, max: 5_000 }), (all, maxBytes) => {
      const going = mostUnread(all, maxBytes);
      const bytes = (some: typeof all) => some.reduce((sum, { unreadBytes }) => sum + unreadBytes, 0);
      const left = bytes(all) - bytes(going);
      expect(left).toBeLessThanOrEqual(maxBytes);
      if (going.length > 0) expect(left + going.at(-1)!.unreadBytes).toBeGreaterThan(maxBytes);
    }),
  );
});
