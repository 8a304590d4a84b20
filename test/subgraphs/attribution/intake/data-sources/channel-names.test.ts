import { namesOf } from '../../../../../subgraphs/attribution/intake/data-sources/channel-names.ts';

test('a message names twenty channels at most', () => {
  const names = Array.from({ length: 23 }, (_, place) => `c${place}`);
  expect([namesOf([]), namesOf(['a', 'b'])]).toEqual(['none yet', 'a, b']);
  expect(namesOf(names)).toBe(`${names.slice(0, 20).join(', ')} and 3 more`);
});
