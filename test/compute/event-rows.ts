import * as fc from 'fast-check';
import { DAY_S } from '../../compute/run-options.ts';
import type { EventRow } from './reference-data.ts';

/**
 * Up to 40 users with a handful of events in 60 days, on whole hours so that ties happen. Times of one user may be
 * equal.
 */
export const eventRows = fc
  .array(
    fc.array(
      fc.record({
        hour: fc.integer({ min: 0, max: 60 * 24 }),
        channel: fc.constantFrom('direct', 'organic', 'email', 'social', 'video'),
        kind: fc.constantFrom('touch', 'touch', 'touch', 'bare conversion', 'clicked conversion'),
        cents: fc.integer({ min: 0, max: 20_000 }),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((users): EventRow[] =>
    users.flatMap((events, user) =>
      events
        .map(({ hour, channel, kind, cents }) => ({
          user: `user ${user}`,
          timeS: (hour * DAY_S) / 24,
          channel: kind === 'bare conversion' ? '' : channel,
          conversion: kind !== 'touch',
          value: kind === 'touch' ? 0 : cents / 100,
        }))
        .toSorted((a, b) => a.timeS - b.timeS),
    ),
  )
  .filter((rows) => rows.some((row) => row.channel !== ''));
