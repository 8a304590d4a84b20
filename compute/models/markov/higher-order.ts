import type { PathTable } from '../../journey-tables.ts';
import { reversed, solveVisits } from '../../numerics/sparse-solve.ts';
import type { Checkpoint } from '../../outcome.ts';
import { buildKGramChain, gramWalk } from './k-gram-chain.ts';
import type { KGramChain } from './k-gram-chain.ts';
import type { ChainsWithout, RemovalEffects } from './removal-effects.ts';

/** States × channels of which the chains without a channel are held: two arrays of 32 MB. */
const MOST_CHAIN_ENTRIES = 4_000_000;
/** Standard errors need no more digits. */
const TOLERANCE_OF_ERRORS = 1e-8;

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
  const passage = chain.size * channels <= MOST_CHAIN_ENTRIES ? new Float64Array(chain.size * channels) : null;
  for (let x = 0; x < channels; x++) {
    const tick = (): void => checkpoint(0.5 + (x / channels) * 0.5);
    tick();
    if (!markStatesWith(x + 1, chain, channels + 1, off)) {
      if (passage !== null) for (let s = 0; s < chain.size; s++) passage[s * channels + x] = 1;
      continue;
    }
    const visits = all.slice();
    const without = solveVisits(chain, chain.start, off, visits, tick);
    iterations += without.sweeps;
    converged &&= without.converged;
    lost[x] = probability - reach(visits, chain.conversion);
    lostValue[x] = expectedValue - reach(visits, chain.value);
    if (passage !== null) for (let s = 0; s < chain.size; s++) passage[s * channels + x] = all[s] === 0 ? 0 : visits[s]! / all[s]!;
  }
  return {
    states: chain.size,
    probability,
    expectedValue,
    lost,
    lostValue,
    iterations,
    converged,
    statesOf: gramWalk(table, order, chain),
    chainsWithout: (outcome, checkpoint) => (passage === null ? null : { hope: hopes(chain, chain[outcome], channels, checkpoint), passage }),
  };
}

/** Expected outcome from each state, once per removed channel, states × K. */
function hopes(chain: KGramChain, reward: Float64Array, channels: number, checkpoint: Checkpoint): ChainsWithout['hope'] {
  const turned = reversed(chain);
  const off = new Uint8Array(chain.size);
  const all = reward.slice();
  solveVisits(turned, reward, off, all, () => checkpoint(0.9), TOLERANCE_OF_ERRORS);
  const hope = new Float64Array(chain.size * channels);
  for (let x = 0; x < channels; x++) {
    const without = all.slice();
    if (markStatesWith(x + 1, chain, channels + 1, off)) solveVisits(turned, reward, off, without, () => checkpoint(0.9), TOLERANCE_OF_ERRORS);
    for (let s = 0; s < chain.size; s++) hope[s * channels + x] = without[s]!;
  }
  return hope;
}
