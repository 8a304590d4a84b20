import type { PathTable } from '../../journey-tables.ts';
import { KeyIndex, Sums } from '../../numerics/key-index.ts';
import { sweepOrder } from '../../numerics/sparse-solve.ts';
import type { SparseChain } from '../../numerics/sparse-solve.ts';
import type { Checkpoint } from '../../outcome.ts';
import { PATHS_PER_CHECK } from '../credits.ts';

/** The chain of order k ≥ 2: states are the k-grams that occur, and the whole path where it is shorter than k. */
export interface KGramChain extends SparseChain {
  /** the channels of state s are digits of code[s] in base K + 1, 0 = none */
  readonly code: Float64Array;
  /** the state of a code that occurs */
  readonly stateOf: (code: number) => number;
  /** probability that a journey starts in the state */
  readonly start: Float64Array;
  /** probability of a conversion from the state, and its expected revenue */
  readonly conversion: Float64Array;
  readonly value: Float64Array;
}

/** A coarse group per last channel; more would make the coarse system as costly as the sweeps. */
const MOST_GROUPS = 64;

/** The highest order. */
const MOST_DIGITS = 4;

/** (k + 1)-grams are coded in base K + 1, which stays within exact integers up to order 4 and 1,500 channels. */
export function buildKGramChain(table: PathTable, order: number, checkpoint: Checkpoint): KGramChain {
  const { channels, offsets, steps, conversions, value, nulls } = table;
  const base = channels.length + 1;
  const window = base ** (order - 1);
  const states = new KeyIndex(base ** order);
  const edges = new KeyIndex(base ** (order + 1));
  const [code, start, converted, earned, out] = [new Sums(), new Sums(), new Sums(), new Sums(), new Sums()];
  const [weights, sources, targets] = [new Sums(), new Sums(), new Sums()];
  let journeys = 0;
  const numberOf = (gram: number): number => {
    const known = states.size;
    const state = states.numberOf(gram);
    if (state === known) code.add(state, gram);
    return state;
  };
  const paths = conversions.length;
  for (let p = 0; p < paths; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint((p / paths) * 0.5);
    const first = offsets[p]!;
    const end = offsets[p + 1]!;
    const weight = conversions[p]! + nulls[p]!;
    if (first === end || weight === 0) continue;
    journeys += weight;
    const firstWindow = Math.min(end, first + order);
    let gram = 0;
    for (let i = first; i < firstWindow; i++) gram = gram * base + steps[i]! + 1;
    let state = numberOf(gram);
    start.add(state, weight);
    for (let i = firstWindow; i < end; i++) {
      const digit = steps[i]! + 1;
      const edgeCode = gram * base + digit;
      const nextGram = (gram % window) * base + digit;
      if (nextGram === gram) continue;
      const next = numberOf(nextGram);
      const known = edges.size;
      const edge = edges.numberOf(edgeCode);
      if (edge === known) {
        sources.add(edge, state);
        targets.add(edge, next);
      }
      weights.add(edge, weight);
      out.add(state, weight);
      state = next;
      gram = nextGram;
    }
    converted.add(state, conversions[p]!);
    earned.add(state, value[p]!);
    out.add(state, weight);
  }
  const size = states.size;
  const edgeCount = edges.size;
  const probabilityOf = (edge: number): number => weights.values[edge]! / out.values[sources.values[edge]!]!;
  // From the order in which the states were met to one that is good for sweeps.
  const sequence = sweepOrder({ size, ...byTarget(size, edgeCount, sources.values, targets.values, probabilityOf) });
  const place = new Int32Array(size);
  sequence.forEach((state, s) => (place[state] = s));
  const placed = (column: Float64Array): Float64Array => column.subarray(0, edgeCount).map((state) => place[state]!);
  const perVisit = (sums: Sums): Float64Array =>
    Float64Array.from(sequence, (state) => (sums.values[state] ?? 0) / out.values[state]!);
  return {
    size,
    code: Float64Array.from(sequence, (state) => code.values[state]!),
    stateOf: (gram) => place[states.numberOf(gram)]!,
    start: Float64Array.from(sequence, (state) => (start.values[state] ?? 0) / journeys),
    conversion: perVisit(converted),
    value: perVisit(earned),
    ...byTarget(size, edgeCount, placed(sources.values), placed(targets.values), probabilityOf),
    group: Uint8Array.from(sequence, (state) => (code.values[state]! % base) % MOST_GROUPS),
    groups: Math.min(MOST_GROUPS, base),
  };
}

/** The states of each path, as the chain was built from it; consecutive equal ones once. */
export function gramWalk(
  { channels, offsets, steps }: PathTable,
  order: number,
  { stateOf }: KGramChain,
): (p: number, into: Int32Array) => number {
  const base = channels.length + 1;
  const window = base ** (order - 1);
  return (p, into) => {
    const first = offsets[p]!;
    const end = offsets[p + 1]!;
    const firstWindow = Math.min(end, first + order);
    let gram = 0;
    for (let i = first; i < firstWindow; i++) gram = gram * base + steps[i]! + 1;
    let count = 0;
    into[count++] = stateOf(gram);
    for (let i = firstWindow; i < end; i++) {
      const next = (gram % window) * base + steps[i]! + 1;
      if (next === gram) continue;
      gram = next;
      into[count++] = stateOf(gram);
    }
    return count;
  };
}

/** Which states hold each channel. */
export interface StatesByChannel {
  /** those with channel x are `states[offsets[x] .. offsets[x + 1])` */
  readonly offsets: Int32Array;
  readonly states: Int32Array;
}

/** A state counts once for each different channel of its k-gram. */
export function statesByChannel({ size, code }: KGramChain, channels: number): StatesByChannel {
  const base = channels + 1;
  const digits = new Int32Array(MOST_DIGITS);
  const digitsOf = (state: number): number => {
    let count = 0;
    for (let rest = code[state]!; rest > 0; rest = Math.floor(rest / base)) {
      const digit = rest % base;
      if (digits.indexOf(digit) < 0 || digits.indexOf(digit) >= count) digits[count++] = digit;
    }
    return count;
  };
  const offsets = new Int32Array(channels + 1);
  for (let s = 0; s < size; s++) for (let i = digitsOf(s) - 1; i >= 0; i--) offsets[digits[i]!]! += 1;
  for (let x = 0; x < channels; x++) offsets[x + 1]! += offsets[x]!;
  const next = offsets.slice();
  const states = new Int32Array(offsets[channels]!);
  for (let s = 0; s < size; s++) for (let i = digitsOf(s) - 1; i >= 0; i--) states[next[digits[i]! - 1]!++] = s;
  return { offsets, states };
}

/** Counting sort of the edges by target. */
function byTarget(
  size: number,
  edges: number,
  sources: Float64Array,
  targets: Float64Array,
  probabilityOf: (edge: number) => number,
): Pick<SparseChain, 'into' | 'from' | 'probability'> {
  const into = new Int32Array(size + 1);
  for (let e = 0; e < edges; e++) into[targets[e]! + 1]!++;
  for (let s = 0; s < size; s++) into[s + 1]! += into[s]!;
  const next = into.slice();
  const from = new Int32Array(edges);
  const probability = new Float64Array(edges);
  for (let e = 0; e < edges; e++) {
    const slot = next[targets[e]!]!++;
    from[slot] = sources[e]!;
    probability[slot] = probabilityOf(e);
  }
  return { into, from, probability };
}
