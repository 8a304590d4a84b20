/** Largest relative difference of two columns; entries that are both below `floor` count as equal. */
export function relativeDifference(actual: ArrayLike<number>, expected: ArrayLike<number>, floor = 1e-12): number {
  if (actual.length !== expected.length) return Infinity;
  let worst = 0;
  for (let i = 0; i < actual.length; i++) {
    const size = Math.max(Math.abs(actual[i]!), Math.abs(expected[i]!));
    // Written so that NaN is as far away as can be.
    if (!(Math.abs(actual[i]! - expected[i]!) <= 0))
      worst = Math.max(worst, size <= floor ? 0 : Math.abs(actual[i]! - expected[i]!) / size);
    if (Number.isNaN(actual[i]!)) return Infinity;
  }
  return worst;
}

/** A record keyed by channel as a column; channels that it lacks are 0. */
export const columnOf = (channels: readonly string[], record: Readonly<Record<string, number>>): number[] =>
  channels.map((name) => record[name] ?? 0);

export const total = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, value) => sum + value, 0);
