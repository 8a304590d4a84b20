import * as fc from 'fast-check';
import { columnOf, relativeDifference, total } from '../closeness.ts';
import { pathRows } from '../path-rows.ts';
import { pathTable, readPathRows, reference } from '../reference-data.ts';
import type { PathRow } from '../reference-data.ts';
import { figures } from '../run-in-thread.ts';

/** All coalitions, by the textbook formula |S|!(n − |S| − 1)!/n! · (v(S ∪ x) − v(S)). */
function bruteForce(rows: readonly PathRow[], channels: readonly string[], worth: (row: PathRow) => number): number[] {
  const n = channels.length;
  const factorial = (k: number): number => (k <= 1 ? 1 : k * factorial(k - 1));
  const v = (members: ReadonlySet<string>): number =>
    total(rows.filter((row) => row.path.every((step) => members.has(step))).map(worth));
  return channels.map((channel) => {
    const others = channels.filter((name) => name !== channel);
    let value = 0;
    for (let code = 0; code < 2 ** others.length; code++) {
      const coalition = others.filter((_, i) => (code >> i) & 1);
      const weight = (factorial(coalition.length) * factorial(n - coalition.length - 1)) / factorial(n);
      value += weight * (v(new Set([...coalition, channel])) - v(new Set(coalition)));
    }
    return value;
  });
}

describe('Shapley attribution', () => {
  test.each(['tiny', 'events.journeys'])('%s equals the reference program', (file) => {
    const table = pathTable(readPathRows(`${file}.csv`));
    const expected = reference<{ shapley_closed: Record<'conversions' | 'value', Record<string, number>> }>(
      `refs.${file}.json`,
    ).shapley_closed;
    const result = figures('shapley', { paths: table });
    expect(relativeDifference(result.conversions, columnOf(table.channels, expected.conversions))).toBeLessThan(1e-9);
    expect(relativeDifference(result.value, columnOf(table.channels, expected.value))).toBeLessThan(1e-9);
  });

  test('the closed form is the sum over all coalitions', () => {
    fc.assert(
      fc.property(pathRows, (rows) => {
        const table = pathTable(rows);
        const result = figures('shapley', { paths: table });
        expect(
          relativeDifference(
            result.conversions,
            bruteForce(rows, table.channels, (row) => row.conversions),
            1e-9,
          ),
        ).toBeLessThan(1e-9);
        expect(
          relativeDifference(
            result.value,
            bruteForce(rows, table.channels, (row) => row.value),
            1e-9,
          ),
        ).toBeLessThan(1e-9);
      }),
    );
  });

  test('a channel that only repeats earns no more than one that appears once', () => {
    const result = figures('shapley', {
      paths: pathTable([{ path: ['a', 'a', 'a', 'b'], conversions: 4, value: 40, nulls: 0 }]),
    });
    expect([...result.conversions]).toEqual([2, 2]);
  });
});
