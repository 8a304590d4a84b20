import { assert, property, jsonValue } from 'fast-check';
import { jsonMembers } from '../../platform/json-members.ts';

const count = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : Object.values(value).reduce(
        (sum: number, each) => sum + count(each),
        Array.isArray(value) ? 0 : Object.keys(value).length,
      );

test('counts every member, however the text is laid out, and little else', () => {
  expect(jsonMembers(Buffer.from('{"a":1,"b" : {"c"\n\t:[{"d":"e: f"}]},"url":"http://x"}'))).toBe(5);
  assert(
    property(jsonValue({ maxDepth: 4 }), (value) => {
      for (const indent of [0, 2])
        expect(jsonMembers(Buffer.from(JSON.stringify(value, null, indent)))).toBeGreaterThanOrEqual(count(value));
    }),
  );
});
