import type { PathTable } from '../journey-tables.ts';

/** Channels with a state of their own; the fundamental matrix grows with the cube. */
const MOST_STATES = 256;

/** Which state of the chain each channel is. */
export interface States {
  readonly of: Uint16Array;
  readonly size: number;
  /** every channel is a state: false where the rarest share the last one */
  readonly areChannels: boolean;
}

/** A state per channel; beyond 256 channels the most frequent 255 keep theirs and the others share one. */
export function statesOf(channels: number, occurrences: () => Float64Array): States {
  const of = new Uint16Array(channels);
  if (channels <= MOST_STATES) return { of: of.map((_, c) => c), size: channels, areChannels: true };
  const counts = occurrences();
  const frequent = Array.from(counts.keys())
    .toSorted((a, b) => counts[b]! - counts[a]! || a - b)
    .slice(0, MOST_STATES - 1);
  of.fill(MOST_STATES - 1);
  frequent.forEach((channel, state) => (of[channel] = state));
  return { of, size: MOST_STATES, areChannels: false };
}

/** Touches of each channel over all journeys, conversions or not. */
export function touchesOfPaths({ channels, offsets, steps, conversions, nulls }: PathTable): Float64Array {
  const counts = new Float64Array(channels.length);
  for (let p = 0; p < conversions.length; p++)
    for (let i = offsets[p]!; i < offsets[p + 1]!; i++) counts[steps[i]!]! += conversions[p]! + nulls[p]!;
  return counts;
}
