import * as fc from 'fast-check';
import { OpenWindows } from '../../../compute/models/prav/open-windows.ts';

const COLUMNS = 6;
const CONSTANT = [0, 1] as const;

/** Opens at random; closes only what is open, as windows do. */
const steps = fc.array(fc.record({ column: fc.integer({ min: 1, max: COLUMNS - 1 }), closes: fc.boolean() }), { maxLength: 60 });

const listed = (windows: OpenWindows): Map<number, number> => new Map(Array.from({ length: windows.size }, (_, place) => [windows.column[place]!, windows.level[place]!]));

test('lists each column that has an open window once, with how many, behind the constant', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const windows = new OpenWindows(COLUMNS);
      const expected = new Map<number, number>([CONSTANT]);
      for (const { column, closes } of history) {
        const open = expected.get(column) ?? 0;
        if (closes && open === 0) continue;
        if (closes) windows.close(column);
        else windows.open(column);
        const left = open + (closes ? -1 : 1);
        if (left === 0) expected.delete(column);
        else expected.set(column, left);
        expect(listed(windows)).toEqual(expected);
        expect([windows.size, windows.column[0]]).toEqual([expected.size, 0]);
      }
      windows.clear();
      expect(listed(windows)).toEqual(new Map([CONSTANT]));
      // Nothing of the last user is left behind.
      for (let column = 1; column < COLUMNS; column++) windows.open(column);
      expect(listed(windows)).toEqual(new Map(Array.from({ length: COLUMNS }, (_, column) => [column, 1])));
    }),
  );
});
