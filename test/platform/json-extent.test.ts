import { assert, property, jsonValue } from 'fast-check';
import { jsonExtent } from '../../platform/json-extent.ts';

const isCollection = (value: unknown): value is object => typeof value === 'object' && value !== null;
const count = (value: unknown): number =>
  isCollection(value) ? Object.values(value).reduce((sum: number, each) => sum + 1 + count(each), 0) : 0;
const depthOf = (value: unknown): number =>
  isCollection(value) ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
const extentOf = (text: string) => jsonExtent(Buffer.from(text));

test('counts members and elements, however the text is laid out, and nothing in strings', () => {
  expect(extentOf('{"a":1,"b" : {"c"\n\t:[{"d":"e: f"}]},"url":"http://x"}')).toEqual({ values: 6, depth: 4 });
  expect(extentOf(JSON.stringify('[[{{,,,"\\"\\\\[['))).toEqual({ values: 0, depth: 0 });
  assert(
    property(jsonValue({ maxDepth: 4 }), (value) => {
      for (const indent of [0, 2]) {
        const extent = extentOf(JSON.stringify(value, null, indent));
        expect(extent.values).toBeGreaterThanOrEqual(count(value));
        expect(extent.depth).toBe(depthOf(value));
      }
    }),
  );
});

test.each(['[],', '[', '"a",', '{},', '1,'])('counts every %s of a long text', (part) => {
  expect(extentOf(`[${part.repeat(50_000)}`).values).toBeGreaterThan(50_000);
});
