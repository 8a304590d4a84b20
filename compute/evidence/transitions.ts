/**
 * Counts of an order-1 chain over channels: states 0 … size − 1, and the three ends that every journey has.
 * Consecutive equal states are collapsed, as in the Markov model.
 */
export interface Transitions {
  readonly size: number;
  /** size × size, row-major */
  readonly between: Float64Array;
  /** journeys that begin in the state, and how many of these convert */
  readonly starts: Float64Array;
  readonly startsThatConvert: Float64Array;
  /** journeys that end in the state with a conversion, its revenue, and those that end without */
  readonly conversions: Float64Array;
  readonly value: Float64Array;
  readonly nulls: Float64Array;
}

/** Zeros, for {@link Transitions} to be counted into. */
export function emptyTransitions(size: number): Transitions {
  return {
    size,
    between: new Float64Array(size * size),
    starts: new Float64Array(size),
    startsThatConvert: new Float64Array(size),
    conversions: new Float64Array(size),
    value: new Float64Array(size),
    nulls: new Float64Array(size),
  };
}

/**
 * Adds `conversions` converting journeys worth `value` in total, and `nulls` others, along `steps[begin .. end)`; the
 * path must not be empty.
 */
export function addJourney(
  counts: Transitions,
  stateOf: Uint16Array,
  steps: Uint16Array,
  begin: number,
  end: number,
  conversions: number,
  value: number,
  nulls: number,
): void {
  const { size, between } = counts;
  const weight = conversions + nulls;
  let state = stateOf[steps[begin]!]!;
  counts.starts[state]! += weight;
  counts.startsThatConvert[state]! += conversions;
  for (let i = begin + 1; i < end; i++) {
    const next = stateOf[steps[i]!]!;
    if (next === state) continue;
    between[state * size + next]! += weight;
    state = next;
  }
  counts.conversions[state]! += conversions;
  counts.value[state]! += value;
  counts.nulls[state]! += nulls;
}

/** Σ of several counts over the same states. */
export function sumTransitions(parts: readonly Transitions[], size: number): Transitions {
  const total = emptyTransitions(size);
  const fields = ['between', 'starts', 'startsThatConvert', 'conversions', 'value', 'nulls'] as const;
  for (const part of parts) for (const field of fields) part[field].forEach((count, i) => (total[field][i]! += count));
  return total;
}

/** Everything that leaves a state. */
export function outflow(counts: Transitions): Float64Array {
  const { size, between, conversions, nulls } = counts;
  return conversions.map((converted, s) => {
    let sum = converted + nulls[s]!;
    for (let next = 0; next < size; next++) sum += between[s * size + next]!;
    return sum;
  });
}

/**
 * All transitions as one list: the starts, then per state the moves to each state, to conversion and to null. Negative
 * never.
 */
function asList({ size, between, starts, conversions, nulls }: Transitions): Float64Array {
  const list = new Float64Array(size * (size + 3));
  list.set(starts);
  for (let s = 0; s < size; s++) {
    list.set(between.subarray(s * size, (s + 1) * size), size + s * (size + 2));
    list[size + s * (size + 2) + size] = conversions[s]!;
    list[size + s * (size + 2) + size + 1] = nulls[s]!;
  }
  return list;
}

/**
 * Jensen–Shannon divergence, base 2, of two transition distributions (Lin 1991), in [0, 1]; each is the joint
 * distribution of (from, to) over all transitions of its journeys. 1 where one side has no journey.
 */
export function divergence(one: Transitions, other: Transitions): number {
  const [p, q] = [asList(one), asList(other)];
  const [ofP, ofQ] = [p.reduce((sum, n) => sum + n, 0), q.reduce((sum, n) => sum + n, 0)];
  if (ofP === 0 || ofQ === 0) return 1;
  let bits = 0;
  for (let i = 0; i < p.length; i++) {
    const [a, b] = [p[i]! / ofP, q[i]! / ofQ];
    const middle = (a + b) / 2;
    if (a > 0) bits += (a / 2) * Math.log2(a / middle);
    if (b > 0) bits += (b / 2) * Math.log2(b / middle);
  }
  return Math.min(1, Math.max(0, bits));
}

/**
 * What is added to every possible transition, so that one which the reference never saw is unlikely and not impossible
 * (Krichevsky & Trofimov 1981).
 */
const PSEUDO_COUNT = 0.5;

/**
 * Cross-entropy per step, in nats, of journeys under the order-1 matrix that `reference` teaches; its exponential is
 * the perplexity.
 */
function nats(journeys: Transitions, reference: Transitions): number {
  const { size } = journeys;
  const [seen, known] = [asList(journeys), asList(reference)];
  let surprise = 0;
  let steps = 0;
  const addRow = (from: number, to: number): void => {
    let total = 0;
    for (let i = from; i < to; i++) total += known[i]! + PSEUDO_COUNT;
    for (let i = from; i < to; i++) {
      if (seen[i] === 0) continue;
      steps += seen[i]!;
      surprise -= seen[i]! * Math.log((known[i]! + PSEUDO_COUNT) / total);
    }
  };
  addRow(0, size);
  for (let s = 0; s < size; s++) addRow(size + s * (size + 2), size + (s + 1) * (size + 2));
  return steps === 0 ? 0 : surprise / steps;
}

/**
 * |ln(PPL of the window / PPL of the reference)|, both under the reference's transition matrix, clipped to 1; 1 where
 * one side has no journey.
 */
export function perplexityAnomaly(window: Transitions, reference: Transitions): number {
  const has = (counts: Transitions): boolean => counts.starts.some((n) => n > 0);
  return has(window) && has(reference)
    ? Math.min(1, Math.abs(nats(window, reference) - nats(reference, reference)))
    : 1;
}
