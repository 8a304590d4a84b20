import { factorise, solveInto } from '../numerics/linear-solve.ts';
import { outflow } from './transitions.ts';
import type { Transitions } from './transitions.ts';

/** What the fundamental matrix N = (I − Q)⁻¹ of a chain says. */
export interface Absorption {
  /** per state, the probability that a journey there converts in the end; 0 for states that no journey visits */
  readonly conversion: Float64Array;
  /** conversions and revenue that are lost when the state leads to null, per journey */
  readonly lost: Float64Array;
  readonly lostValue: Float64Array;
  /** of a journey from the start */
  readonly probability: number;
}

/**
 * Solves the chain by its fundamental matrix (Kemeny & Snell 1960): h = N·b; a journey visits x with probability
 * (s·N)ₓ/Nₓₓ, and removing x loses that times hₓ. null where the matrix is singular.
 * `throwIfCancelled` ends a task that was cancelled.
 */
export function absorption(counts: Transitions, throwIfCancelled: () => void): Absorption | null {
  const { size, between, starts, conversions, value } = counts;
  const out = outflow(counts);
  const system = new Float64Array(size * size);
  for (let i = 0; i < size; i++)
    for (let j = 0; j < size; j++)
      system[i * size + j] = (i === j ? 1 : 0) - (out[i] === 0 ? 0 : between[i * size + j]! / out[i]!);
  const factored = factorise(system, size, throwIfCancelled);
  if (factored === null) return null;
  const [conversion, worth] = [new Float64Array(size), new Float64Array(size)];
  solveInto(
    factored,
    conversions.map((n, s) => (out[s] === 0 ? 0 : n / out[s]!)),
    conversion,
  );
  solveInto(
    factored,
    value.map((n, s) => (out[s] === 0 ? 0 : n / out[s]!)),
    worth,
  );
  const journeys = starts.reduce((sum, n) => sum + n, 0);
  const [unit, column] = [new Float64Array(size), new Float64Array(size)];
  const [lost, lostValue] = [new Float64Array(size), new Float64Array(size)];
  let probability = 0;
  for (let x = 0; x < size; x++) {
    if (out[x] === 0) continue;
    throwIfCancelled();
    probability += (starts[x]! / journeys) * conversion[x]!;
    unit[x] = 1;
    solveInto(factored, unit, column);
    unit[x] = 0;
    let visits = 0;
    for (let s = 0; s < size; s++) visits += (starts[s]! / journeys) * column[s]!;
    lost[x] = (visits / column[x]!) * conversion[x]!;
    lostValue[x] = (visits / column[x]!) * worth[x]!;
  }
  return { conversion, lost, lostValue, probability };
}
