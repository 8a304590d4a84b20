import { NO_CHANNEL, sharedFloat64, sharedUint16, sharedUint32, sharedUint8 } from '../../compute/journey-tables.ts';
import type { EventTable, PathTable } from '../../compute/journey-tables.ts';
import { seededRandom } from '../../compute/numerics/random.ts';
import { DAY_S, DEFAULT_RUN_PARAMETERS } from '../../compute/run-options.ts';
import type { RunOptions } from '../../compute/run-options.ts';

const names = (channels: number): string[] =>
  Array.from({ length: channels }, (_, c) => (c < 2 ? ['direct', 'organic'][c]! : `paid_${c}`));

/** Paths of 1 to 30 touches (mean about 6), popular channels more often, 4 % of journeys convert. Paths may repeat. */
export function syntheticPaths(paths: number, channels: number, seed: number): PathTable {
  const random = seededRandom(seed);
  const offsets = sharedUint32(paths + 1);
  for (let p = 0; p < paths; p++)
    offsets[p + 1] = offsets[p]! + 1 + Math.min(29, Math.floor(-5.5 * Math.log(1 - random())));
  const steps = sharedUint16(offsets[paths]!);
  for (let i = 0; i < steps.length; i++) steps[i] = Math.floor(random() ** 1.7 * channels);
  const conversions = sharedFloat64(paths);
  const value = sharedFloat64(paths);
  const nulls = sharedFloat64(paths);
  for (let p = 0; p < paths; p++) {
    conversions[p] = random() < 0.06 ? 1 + Math.floor(random() * 3) : 0;
    nulls[p] = conversions[p] === 0 ? 1 + Math.floor(random() * 3) : Math.floor(random() * 2);
    value[p] = Math.round(conversions[p]! * (20 + random() * 120) * 100) / 100;
  }
  return { channels: names(channels), offsets, steps, conversions, value, nulls };
}

/** Users with about 8.3 events over 120 days, 1 % of events a conversion. */
export function syntheticEvents(events: number, channels: number, seed: number): EventTable {
  const random = seededRandom(seed);
  const starts = [0];
  for (let end = 0; end < events; starts.push(end))
    end = Math.min(events, end + 1 + Math.floor(-7.9 * Math.log(1 - random())));
  const users = starts.length - 1;
  const userStart = sharedUint32(users + 1);
  userStart.set(starts);
  const total = userStart[users]!;
  const userHash = sharedUint32(users);
  const timeS = sharedFloat64(total);
  const channel = sharedUint16(total);
  const conversion = sharedUint8(total);
  const values: number[] = [];
  for (let u = 0; u < users; u++) {
    userHash[u] = Math.floor(random() * 4_294_967_296);
    const begin = userStart[u]!;
    const end = userStart[u + 1]!;
    for (let i = begin; i < end; i++) timeS[i] = 1.74e9 + Math.floor(random() * 120 * DAY_S);
    timeS.subarray(begin, end).sort();
    for (let i = begin; i < end; i++) {
      if (random() < 0.01) {
        conversion[i] = 1;
        channel[i] = random() < 0.3 ? 0 : NO_CHANNEL;
        values.push(Math.round((20 + random() * 120) * 100) / 100);
      } else channel[i] = Math.floor(random() ** 1.7 * channels);
    }
  }
  const value = sharedFloat64(values.length);
  value.set(values);
  return { channels: names(channels), userStart, userHash, timeS, channel, conversion, value };
}

export const wholeRange = (events: EventTable): RunOptions => ({
  ...DEFAULT_RUN_PARAMETERS,
  rangeStartS: 1.74e9,
  rangeEndS: 1.74e9 + 121 * DAY_S,
  observedUntilS: 1.74e9 + 120 * DAY_S,
  isBaseline: Uint8Array.from(events.channels, (_, c) => Number(c < 2)),
});
