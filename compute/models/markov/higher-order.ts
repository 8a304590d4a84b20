import type { PathTable } from '../../journey-tables.ts';
import { solveVisits } from '../../numerics/sparse-solve.ts';
import type { Checkpoint } from '../../outcome.ts';
import { buildKGramChain } from './k-gram-chain.ts';
import type { KGramChain } from './k-gram-chain.ts';
import type { RemovalEffects } from './removal-effects.ts';

/** Marks the states whose k-gram contains `digit` (channel + 1). */
function markStatesWith(digit: number, chain: KGramChain, base: number, off: Uint8Array): boolean {
  let any = false;
  for (let s = 0; s < chain.size; s++) {
    let contains = 0;
    for (let rest = chain.code[s]!; rest > 0; rest = Math.floor(rest / base)) {
      if (rest % base === digit) {
        contains = 1;
        any = true;
        break;
      }
    }
    off[s] = contains;
  }
  return any;
}

function reach(visits: Float64Array, reward: Float64Array): number {
  let sum = 0;
  for (let s = 0; s < visits.length; s++) sum += visits[s]! * reward[s]!;
  return sum;
}

/**
 * Removal effects of a chain of order ≥ 2: expected visits with all states, then once per channel without the states that
 * contain it. One solve serves conversions and revenue, since only the rewards differ.
 */
export function higherOrderEffects(table: PathTable, order: number, checkpoint: Checkpoint): RemovalEffects {
  const channels = table.channels.length;
  const chain = buildKGramChain(table, order, checkpoint);
  const off = new Uint8Array(chain.size);
  const all = chain.start.slice();
  const outcome = solveVisits(chain, chain.start, off, all, () => checkpoint(0.5));
  let iterations = outcome.sweeps;
  let converged = outcome.converged;
  const probability = reach(all, chain.conversion);
  const expectedValue = reach(all, chain.value);
  const lost = new Float64Array(channels);
  const lostValue = new Float64Array(channels);
  for (let x = 0; x < channels; x++) {
    const tick = (): void => checkpoint(0.5 + (x / channels) * 0.5);
    tick();
    if (!markStatesWith(x + 1, chain, channels + 1, off)) continue;
    const visits = all.slice();
    const without = solveVisits(chain, chain.start, off, visits, tick);
    iterations += without.sweeps;
    converged &&= without.converged;
    lost[x] = probability - reach(visits, chain.conversion);
    lostValue[x] = expectedValue - reach(visits, chain.value);
  }
  return { states: chain.size, probability, expectedValue, lost, lostValue, iterations, converged };
}
