import type { PathTable } from '../../../compute/journey-tables.ts';
import type { Random } from '../../../compute/numerics/random.ts';
import { rawPathTable } from '../reference-data.ts';

/** A shop whose journeys are a Markov chain: where they start, where each channel leads, and who buys behind it. */
const CHANNELS = ['direct', 'email', 'search', 'social', 'video'];
const START = [0.1, 0.1, 0.3, 0.3, 0.2];
const NEXT = [
  [0, 0.1, 0.2, 0.05, 0.05],
  [0.2, 0, 0.2, 0.1, 0],
  [0.25, 0.1, 0, 0.1, 0.05],
  [0.1, 0.15, 0.3, 0, 0.1],
  [0.05, 0.05, 0.3, 0.2, 0],
];
const BUYS = [0.25, 0.12, 0.1, 0.03, 0.01];

function pick(weights: readonly number[], random: Random): number {
  let left = random();
  for (let i = 0; i < weights.length; i++) {
    left -= weights[i]!;
    if (left < 0) return i;
  }
  return -1;
}

/** `journeys` independent journeys of the shop, summed by path; orders of 20 to 200, seldom more. */
export function drawJourneys(journeys: number, random: Random): PathTable {
  const rows = new Map<
    string,
    { path: string[]; conversions: number; value: number; nulls: number; squares: number }
  >();
  for (let j = 0; j < journeys; j++) {
    let state = pick(START, random);
    const path = [state];
    for (let next = pick(NEXT[state]!, random); next >= 0; next = pick(NEXT[state]!, random)) path.push((state = next));
    const key = path.join();
    const row =
      rows.get(key) ??
      rows
        .set(key, { path: path.map((channel) => CHANNELS[channel]!), conversions: 0, value: 0, nulls: 0, squares: 0 })
        .get(key)!;
    if (random() < BUYS[state]!) {
      const order = 20 + 180 * random() ** 3;
      row.conversions++;
      row.value += order;
      row.squares += order * order;
    } else row.nulls++;
  }
  const distinct = [...rows.values()];
  return { ...rawPathTable(distinct, CHANNELS), valueSquares: Float64Array.from(distinct, (row) => row.squares) };
}
