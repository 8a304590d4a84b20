import * as fc from 'fast-check';
import type { EventRow } from '../../../../compute/reference-data.ts';

export const DAY_S = 86_400;
type HistoryRow = EventRow & { readonly eventId: string };

/** Journeys cut the slow, obvious way: see "Journeys" in the description of the models. */
export function journeysOf(
  rows: readonly HistoryRow[],
  range: { startS: number; endS: number },
  lookbackS: number,
): Record<string, [number, number, number]> {
  const paths: Record<string, [number, number, number]> = {};
  const count = (touches: readonly EventRow[], conversions: number, value: number, nulls: number): void => {
    const sums = (paths[touches.map(({ channel }) => channel).join(' > ')] ??= [0, 0, 0]);
    sums[0] += conversions;
    sums[1] = Math.round((sums[1] + value) * 100) / 100;
    sums[2] += nulls;
  };
  const rank = (row: HistoryRow) =>
    [
      row.timeS,
      Number(row.conversion && row.eventId === ''),
      row.eventId,
      Number(row.conversion),
      row.channel,
    ] as const;
  for (const events of Map.groupBy(
    rows.filter(({ timeS }) => timeS < range.endS),
    ({ user }) => user,
  ).values()) {
    let open: EventRow[] = [];
    for (const event of events.toSorted((a, b) => compare(rank(a), rank(b)))) {
      if (event.channel !== '') open.push(event);
      if (!event.conversion) continue;
      if (event.timeS >= range.startS)
        count(
          open.filter(({ timeS }) => event.timeS - timeS <= lookbackS),
          1,
          event.value,
          0,
        );
      open = [];
    }
    const last = open.at(-1);
    if (last !== undefined && last.timeS >= range.startS)
      count(
        open.filter(({ timeS }) => last.timeS - timeS <= lookbackS),
        0,
        0,
        1,
      );
  }
  return paths;
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at]! < b[at]! ? -1 : 1;
}

export const START_S = Date.UTC(2025, 0, 1) / 1000;
/** Any history of a few users within twenty days. */
export const history = (withEventIds: boolean) =>
  fc
    .uniqueArray(
      fc.record({
        user: fc.constantFrom('u1', 'u2', 'ü3'),
        // Quarters of a day, so that events meet at the edges of range and lookback.
        quarter: fc.integer({ min: 0, max: 20 * 4 }),
        channel: fc.constantFrom('direct', 'email', 'search'),
        kind: fc.constantFrom('touch', 'touch', 'touch', 'bare conversion', 'clicked conversion'),
        cents: fc.integer({ min: 0, max: 9_999 }),
        eventId: withEventIds ? fc.constantFrom('', 'a', 'b', 'c') : fc.constant(''),
      }),
      // The natural key of a touch; and one conversion per user and instant, since their order is theirs alone.
      {
        minLength: 1,
        maxLength: 60,
        selector: ({ user, quarter, channel, kind }) =>
          kind === 'touch' ? `${user} ${quarter} ${channel}` : `${user} ${quarter}`,
      },
    )
    .map((events) =>
      events.map(({ user, quarter, channel, kind, cents, eventId }) => ({
        user,
        eventId,
        timeS: START_S + (quarter * DAY_S) / 4,
        channel: kind === 'bare conversion' ? '' : channel,
        conversion: kind !== 'touch',
        value: kind === 'touch' ? 0 : cents / 100,
      })),
    );

export const csvOf = (rows: readonly HistoryRow[]): string =>
  [
    'user_id,timestamp,channel,conversion,revenue,event_id',
    ...rows.map(
      ({ user, timeS, channel, conversion, value, eventId }) =>
        `${user},${timeS},${channel},${Number(conversion)},${value},${eventId}`,
    ),
  ].join('\n');
