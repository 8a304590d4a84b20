import { exactDominance } from '../../compute/models/dominance/exact-dominance.ts';
import { solveDense } from '../../compute/numerics/linear-solve.ts';
import { spectralFunction, symmetricEigen } from '../../compute/numerics/symmetric-eigen.ts';
import { ChannelNames, readRows } from './journey-rows.ts';

/** Revenue per channel by the four path models, by channel name. */
export type FourModels = Readonly<Record<'markov' | 'shapley' | 'dominance' | 'rwa', Readonly<Record<string, number>>>>;

const MOST_CHANNELS = 16;

/**
 * The floor: what one would write for this question and nothing else. One thread adds each row to the sums of the four
 * models at once: no table of paths, no checks, no intervals, no more than 16 channels.
 */
export function floorOf(file: string): FourModels {
  const K = MOST_CHANNELS;
  const flows = new Float64Array(K * K);
  const [start, endValue, out] = [new Float64Array(K), new Float64Array(K), new Float64Array(K)];
  const sets = 2 ** K;
  const [journeysOf, conversionsOf, valueOf, squaresOf] = [
    new Float64Array(sets),
    new Float64Array(sets),
    new Float64Array(sets),
    new Float64Array(sets),
  ];
  const channelNames = new ChannelNames();
  readRows(file, 0, Infinity, channelNames, (path, length, conversions, value, nulls) => {
    const weight = conversions + nulls;
    let state = path[0]!;
    let set = 1 << state;
    start[state]! += weight;
    for (let t = 1; t < length; t++) {
      const next = path[t]!;
      if (next === state) continue;
      set |= 1 << next;
      flows[state * K + next]! += weight;
      out[state]! += weight;
      state = next;
    }
    out[state]! += weight;
    journeysOf[set]! += weight;
    if (conversions === 0) return;
    endValue[state]! += value;
    conversionsOf[set]! += conversions;
    valueOf[set]! += value;
    squaresOf[set]! += (value * value) / conversions;
  });

  const names = channelNames.all;
  const total = (column: Float64Array): number => column.reduce((sum, each) => sum + each, 0);
  const [journeys, converted, revenue] = [total(journeysOf), total(conversionsOf), total(valueOf)];
  const used = names.map((_, c) => c);
  const shared = (weights: readonly number[]): Record<string, number> => {
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    return Object.fromEntries(names.map((name, c) => [name, (weights[c]! / all) * revenue]));
  };

  // Markov: one dense solve for each removed channel.
  const expectedWithout = (removed: number): number => {
    const matrix = Float64Array.from({ length: K * K }, (_, e) => {
      const [from, to] = [Math.floor(e / K), e % K];
      return Number(from === to) - (from === removed || to === removed || out[from] === 0 ? 0 : flows[e]! / out[from]!);
    });
    const worth = solveDense(
      matrix,
      endValue.map((value, state) => (state === removed || out[state] === 0 ? 0 : value / out[state]!)),
    )!;
    return worth.reduce((sum, each, state) => sum + (start[state]! / journeys) * each, 0);
  };
  const all = expectedWithout(-1);

  const shapley = used.map(() => 0);
  const present = new Float64Array(K * K);
  const [withConversion, withValue] = [new Float64Array(K), new Float64Array(K)];
  for (let set = 1; set < sets; set++) {
    if (journeysOf[set] === 0) continue;
    const members = used.filter((c) => (set >> c) & 1);
    for (const a of members) {
      shapley[a]! += valueOf[set]! / members.length;
      withConversion[a]! += conversionsOf[set]!;
      withValue[a]! += valueOf[set]!;
      for (const b of members) present[a * K + b]! += journeysOf[set]!;
    }
  }
  const m = names.length;
  const deviation = used.map((c) => Math.sqrt(present[c * K + c]! * (journeys - present[c * K + c]!)));
  const between = Float64Array.from({ length: m * m }, (_, e) => {
    const [a, b] = [Math.floor(e / m), e % m];
    return a === b
      ? 1
      : (present[a * K + b]! * journeys - present[a * K + a]! * present[b * K + b]!) / deviation[a]! / deviation[b]!;
  });
  const correlation = (column: Float64Array, sum: number, ofY: number): Float64Array =>
    Float64Array.from(used, (c) => (column[c]! * journeys - present[c * K + c]! * sum) / deviation[c]! / ofY);
  const r = correlation(withValue, revenue, Math.sqrt(total(squaresOf) * journeys - revenue * revenue));
  const dominance = exactDominance(
    {
      varying: Int32Array.from(used),
      between,
      withConversion: correlation(withConversion, converted, Math.sqrt(converted * (journeys - converted))),
      withValue: r,
    },
    () => undefined,
  );
  const eigen = symmetricEigen(between, m);
  const [root, inverse] = [
    spectralFunction(eigen, Math.sqrt),
    spectralFunction(eigen, (value) => 1 / Math.sqrt(value)),
  ];
  const beta = used.map((a) => used.reduce((sum, b) => sum + inverse[a * m + b]! * r[b]!, 0));
  return {
    markov: shared(used.map((c) => all - expectedWithout(c))),
    shapley: shared(shapley),
    dominance: shared([...dominance.value]),
    rwa: shared(used.map((a) => used.reduce((sum, b) => sum + (root[a * m + b]! * beta[b]!) ** 2, 0))),
  };
}
