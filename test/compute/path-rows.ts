import * as fc from 'fast-check';
import type { PathRow } from './reference-data.ts';

const CHANNELS = ['direct', 'email', 'поиск', '広告', 'social ads'];

/** Up to 25 paths over five channels, at least one of them converting. */
export const pathRows = fc
  .array(
    fc.record({
      path: fc.array(fc.constantFrom(...CHANNELS), { minLength: 1, maxLength: 7 }),
      conversions: fc.integer({ min: 0, max: 6 }),
      cents: fc.integer({ min: 0, max: 50_000 }),
      nulls: fc.integer({ min: 0, max: 9 }),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((rows): PathRow[] =>
    rows.map(({ path, conversions, cents, nulls }) => ({
      path,
      conversions,
      nulls,
      value: (conversions * cents) / 100,
    })),
  )
  .filter((rows) => rows.some((row) => row.conversions > 0 && row.value > 0));
