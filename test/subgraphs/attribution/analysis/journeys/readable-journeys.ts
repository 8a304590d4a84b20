import { NO_CHANNEL, type EventTable, type PathTable } from '../../../../../compute/journey-tables.ts';

/** path → conversions, revenue, nulls */
export function pathsOf({
  channels,
  offsets,
  steps,
  conversions,
  value,
  nulls,
}: PathTable): Record<string, [number, number, number]> {
  const rows = Array.from(conversions, (count, path) => {
    const names = Array.from(steps.subarray(offsets[path], offsets[path + 1]), (step) => channels[step]);
    return [names.join(' > '), [count, value[path]!, nulls[path]!] as [number, number, number]] as const;
  });
  expect(new Set(rows.map(([path]) => path)).size).toBe(rows.length);
  return Object.fromEntries(rows);
}

/** Events by the hash of their user, in order. */
export function eventsOf({
  channels,
  userStart,
  userHash,
  timeS,
  channel,
  conversion,
  value,
}: EventTable): Map<number, string[]> {
  let conversions = 0;
  return new Map(
    Array.from(userHash, (hash, user) => [
      hash,
      Array.from({ length: userStart[user + 1]! - userStart[user]! }, (_, offset) => {
        const at = userStart[user]! + offset;
        const name = channel[at] === NO_CHANNEL ? '' : channels[channel[at]!]!;
        return `${timeS[at]} ${name} ${conversion[at] === 1 ? value[conversions++] : '-'}`;
      }),
    ]),
  );
}
