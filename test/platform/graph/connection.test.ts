import fc from 'fast-check';
import {
  connectionOf,
  cursorOf,
  FIRST_PAGE,
  isNumberKey,
  parsePage,
  placesOf,
  Rows,
  type PageArguments,
} from '../../../platform/graph/connection.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';

const TRUST = recordEnvelope(0, new Date(0), '2026-02-01');

/** A list as a store reads it by places. */
async function read(list: readonly number[], args: PageArguments) {
  const page = parsePage(args, { isKey: isNumberKey });
  const total = list.length;
  const { limit, offset } = await placesOf(page, total, Number);
  return connectionOf(Rows.at(list.slice(offset, offset + limit), { offset, total }, page), page, total, TRUST);
}

/** A list as a store reads it by keys, which are its entries: narrowed, ordered, one more than the page holds. */
function readByKeys(list: readonly number[], args: PageArguments) {
  const page = parsePage(args, { isKey: isNumberKey });
  const within = list.filter(
    (entry) =>
      (page.after === null || entry > Number(page.after)) && (page.before === null || entry < Number(page.before)),
  );
  const ordered = page.fromEnd ? within.toReversed() : within;
  const found = ordered.slice(page.offset, page.offset + page.limit + 1);
  return connectionOf(Rows.of(found, page, String), page, list.length, TRUST);
}

/** The reference: EdgesToReturn of the GraphQL Cursor Connections specification, on the list itself. */
function edgesToReturn(
  list: readonly number[],
  {
    first,
    last,
    after,
    before,
  }: { first?: number | undefined; last?: number | undefined; after?: number | undefined; before?: number | undefined },
): number[] {
  let edges = list.map((_, index) => index);
  if (after !== undefined) edges = edges.filter((index) => index > after);
  if (before !== undefined) edges = edges.filter((index) => index < before);
  if (first !== undefined) edges = edges.slice(0, first);
  if (last !== undefined) edges = edges.slice(Math.max(0, edges.length - last));
  return edges;
}

describe('pages', () => {
  test('of a list that is longer than an Int can say, say the largest Int', () => {
    expect(connectionOf(new Rows([1], ['1'], true), FIRST_PAGE, 2 ** 31 + 5, TRUST)).toMatchObject({
      totalCount: 2 ** 31 - 1,
      pageInfo: { hasNextPage: true },
    });
  });

  test('are those of the Relay specification', () =>
    fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 60 }),
        fc.oneof(
          fc.record({ first: fc.integer({ min: 1, max: 100 }) }),
          fc.record({ last: fc.integer({ min: 1, max: 100 }) }),
        ),
        fc.record({ after: fc.nat({ max: 59 }), before: fc.nat({ max: 59 }) }, { requiredKeys: [] }),
        async (length, size, bounds) => {
          // Cursors come from an earlier page, so they point into the list.
          const within = Object.fromEntries(Object.entries(bounds).filter(([, place]) => place < length));
          const list = Array.from({ length }, (_, index) => index);
          const cursors = Object.fromEntries(
            Object.entries(within).map(([name, place]) => [name, cursorOf(String(place))]),
          );
          const expected = edgesToReturn(list, { ...size, ...within });
          const window = { ...size, ...cursors };
          for (const { edges, pageInfo, totalCount } of [await read(list, window), readByKeys(list, window)]) {
            expect(edges.map(({ node }) => node)).toEqual(expected);
            expect(edges.map(({ cursor }) => cursor)).toEqual(expected.map((entry) => cursorOf(String(entry))));
            expect(totalCount).toBe(length);
            if (expected.length > 0) {
              expect(pageInfo).toEqual({
                hasPreviousPage: expected[0]! > 0,
                hasNextPage: expected.at(-1)! < length - 1,
                startCursor: cursorOf(String(expected[0])),
                endCursor: cursorOf(String(expected.at(-1))),
              });
            }
          }
        },
      ),
    ));

  test('following endCursor visits every row once, in order', async () => {
    const list = Array.from({ length: 47 }, (_, index) => index);
    const seen: number[] = [];
    let after: string | null | undefined;
    do {
      const { edges, pageInfo }: Awaited<ReturnType<typeof read>> = await read(list, {
        first: 10,
        ...(after === undefined || after === null ? {} : { after }),
      });
      seen.push(...edges.map(({ node }) => node));
      after = pageInfo.hasNextPage ? pageInfo.endCursor : undefined;
    } while (after !== undefined);
    expect(seen).toEqual(list);
  });

  test('have 20 rows when nothing is said, and start where offset says', async () => {
    const list = Array.from({ length: 47 }, (_, index) => index);
    expect((await read(list, {})).edges).toHaveLength(20);
    const third = await read(list, { first: 20, offset: 40 });
    expect(third.edges.map(({ node }) => node)).toEqual([40, 41, 42, 43, 44, 45, 46]);
    expect(third.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  });

  test('of an empty list say so', async () => {
    expect(await read([], {})).toMatchObject({
      edges: [],
      totalCount: 0,
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test.each<[PageArguments, string]>([
    [{ first: 0 }, '/first'],
    [{ first: 101 }, '/first'],
    [{ last: -1 }, '/last'],
    [{ first: 1, last: 1 }, '/last'],
    [{ offset: -1 }, '/offset'],
    [{ offset: 1, after: cursorOf('1') }, '/offset'],
    [{ after: 'nonsense' }, '/after'],
    [{ before: Buffer.from('row:x').toString('base64url') }, '/before'],
  ])('%j is refused', async (args, param) => {
    await expect(async () => parsePage(args, { isKey: isNumberKey })).rejects.toMatchObject({
      type: 'validation_error',
      problem: { param },
    });
  });

  test('cursors are opaque and URL-safe', () => {
    expect(cursorOf('0192f3a0-7c3a-7b1f-8d2f-6a4c8e100000')).toMatch(/^[A-Za-z0-9_-]+$/);
  });
});
