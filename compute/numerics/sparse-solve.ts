import { solveDense } from './linear-solve.ts';

/**
 * Transitions of an absorbing chain, stored by target: those into j are entries `into[j] .. into[j + 1]`. No
 * self-loops.
 */
export interface SparseChain {
  readonly size: number;
  readonly into: Int32Array;
  readonly from: Int32Array;
  readonly probability: Float64Array;
  /** sweeps begin at the last state; best is an order of states in which most transitions go along with the sweeps */
  readonly isSweptBackwards?: boolean;
  /** a partition of the states for the coarse correction */
  readonly group: Uint8Array;
  readonly groups: number;
}

/** How an iterative solution went. */
export interface VisitsOutcome {
  readonly sweeps: number;
  readonly converged: boolean;
}

/**
 * What solutions may cost altogether, in states and transitions looked at, a few nanoseconds each. Counted, not timed:
 * so the same chain always gets the same answer.
 */
export class SolvingBudget {
  private left: number;

  constructor(most: number) {
    this.left = most;
  }

  get isSpent(): boolean {
    return this.left < 0;
  }

  spend(cost: number): void {
    this.left -= cost;
  }
}

/**
 * Corrected sweeps shrink the error about tenfold, so the error is an order below the last change; what removal takes
 * away is a small difference of such sums.
 */
const TOLERANCE = 1e-14;
/** A sweep that leaves more of the change than this is followed by a correction; others would be set back by it. */
const SLOW = 0.5;
const MOST_CORRECTIONS = 200;
const MOST_SWEEPS = 20_000;

/** One Gauss–Seidel sweep over u = start + Qᵀu; returns Σ|change| / Σu. States switched off keep 0. */
function sweep(chain: SparseChain, start: Float64Array, off: Uint8Array, visits: Float64Array): number {
  const { size, into, from, probability, isSweptBackwards = false } = chain;
  let change = 0;
  let total = 0;
  for (let place = 0; place < size; place++) {
    const j = isSweptBackwards ? size - 1 - place : place;
    if (off[j] === 1) continue;
    let sum = start[j]!;
    for (let e = into[j]!; e < into[j + 1]!; e++) sum += visits[from[e]!]! * probability[e]!;
    change += Math.abs(sum - visits[j]!);
    total += sum;
    visits[j] = sum;
  }
  return total === 0 ? 0 : change / total;
}

/**
 * Scales each group of states so that its flow balances (Koury, McAllister & Stewart 1984, aggregation/disaggregation):
 * removes the slow modes that make plain sweeps crawl where journeys are long.
 */
function balanceGroups(chain: SparseChain, start: Float64Array, off: Uint8Array, visits: Float64Array): void {
  const { size, into, from, probability, group, groups } = chain;
  const system = new Float64Array(groups * groups);
  const inflow = new Float64Array(groups);
  for (let j = 0; j < size; j++) {
    if (off[j] === 1) continue;
    const row = group[j]! * groups;
    system[row + group[j]!]! += visits[j]!;
    inflow[group[j]!]! += start[j]!;
    for (let e = into[j]!; e < into[j + 1]!; e++) {
      const i = from[e]!;
      system[row + group[i]!]! -= visits[i]! * probability[e]!;
    }
  }
  for (let g = 0; g < groups; g++) if (system[g * groups + g] === 0) system[g * groups + g] = 1;
  const scale = solveDense(system, inflow);
  if (scale === null || scale.some((factor) => !(factor >= 0))) return;
  for (let j = 0; j < size; j++) visits[j]! *= scale[group[j]!]!;
}

/**
 * The states behind those that lead to them, as far as there are no loops: depth-first along the transitions backwards,
 * each state when all before it are done (Tarjan 1972). Without loops one sweep in this order is exact.
 */
export function sweepOrder({ size, into, from }: Pick<SparseChain, 'size' | 'into' | 'from'>): Int32Array {
  const order = new Int32Array(size);
  const seen = new Uint8Array(size);
  const next = into.slice(0, size);
  const open = new Int32Array(size);
  let done = 0;
  for (let root = 0; root < size; root++) {
    if (seen[root] === 1) continue;
    seen[root] = 1;
    open[0] = root;
    for (let depth = 0; depth >= 0;) {
      const state = open[depth]!;
      if (next[state] === into[state + 1]) {
        order[done++] = state;
        depth--;
        continue;
      }
      const before = from[next[state]!++]!;
      if (seen[before] === 1) continue;
      seen[before] = 1;
      open[++depth] = before;
    }
  }
  return order;
}

/** The chain with every transition turned around: `solveVisits` on it, started at the rewards b, solves h = b + Q·h. */
export function reversed({
  size,
  into,
  from,
  probability,
  isSweptBackwards = false,
  group,
  groups,
}: SparseChain): SparseChain {
  const turned = {
    size,
    into: new Int32Array(size + 1),
    from: new Int32Array(from.length),
    probability: new Float64Array(from.length),
    isSweptBackwards: !isSweptBackwards,
    group,
    groups,
  };
  for (let e = 0; e < from.length; e++) turned.into[from[e]! + 1]!++;
  for (let s = 0; s < size; s++) turned.into[s + 1]! += turned.into[s]!;
  const next = turned.into.slice();
  for (let j = 0; j < size; j++) {
    for (let e = into[j]!; e < into[j + 1]!; e++) {
      const slot = next[from[e]!]!++;
      turned.from[slot] = j;
      turned.probability[slot] = probability[e]!;
    }
  }
  return turned;
}

/** All optional. */
export interface SolvingOptions {
  readonly tick?: () => void;
  readonly tolerance?: number;
  readonly budget?: SolvingBudget;
}

/**
 * Expected visits u of each state of an absorbing chain started at `start`: solves u = start + Qᵀu over the states that
 * are not `off`, to about 14 digits. `visits` holds a first guess and receives the result; `tick` runs once per sweep.
 * Stops short of that where the budget is spent.
 */
export function solveVisits(
  chain: SparseChain,
  start: Float64Array,
  off: Uint8Array,
  visits: Float64Array,
  { tick, tolerance = TOLERANCE, budget }: SolvingOptions = {},
): VisitsOutcome {
  for (let j = 0; j < chain.size; j++) if (off[j] === 1) visits[j] = 0;
  const costOfSweep = chain.size + chain.from.length;
  const costOfCorrection = costOfSweep + chain.groups ** 3 / 3;
  let before = Infinity;
  let corrections = 0;
  for (let sweeps = 1; sweeps <= MOST_SWEEPS; sweeps++) {
    tick?.();
    budget?.spend(costOfSweep);
    const change = sweep(chain, start, off, visits);
    if (change <= tolerance) return { sweeps, converged: true };
    const isSlow = change > SLOW * before && corrections < MOST_CORRECTIONS;
    if (budget?.isSpent === true) return { sweeps, converged: false };
    if (isSlow) {
      budget?.spend(costOfCorrection);
      balanceGroups(chain, start, off, visits);
      corrections++;
    }
    before = isSlow ? Infinity : change;
  }
  return { sweeps: MOST_SWEEPS, converged: false };
}
