import type { PathTable } from '../../journey-tables.ts';
import { reversed, SolvingBudget, solveVisits } from '../../numerics/sparse-solve.ts';
import type { Checkpoint } from '../../outcome.ts';
import { buildKGramChain, gramWalk, statesByChannel } from './k-gram-chain.ts';
import type { KGramChain, StatesByChannel } from './k-gram-chain.ts';
import type { ChainsWithout, RemovalEffects } from './removal-effects.ts';

/** States × channels of which the chains without a channel are held: two arrays of 32 MB. */
const MOST_CHAIN_ENTRIES = 4_000_000;
/** Standard errors need no more digits. */
const TOLERANCE_OF_ERRORS = 1e-8;

/**
 * What all chains of a model may cost, in states and transitions looked at: some three seconds. Tables of more steps
 * than this may cost more in proportion.
 */
const BUDGET = 6e8;
const BUDGET_STEPS = 100_000;
/** For the credit alone: without what errors take, and to fewer digits. */
const PART_FOR_CREDIT = 0.3;
const TOLERANCE_OF_CREDIT = 1e-10;

/** Switches the states with channel x off, or on again. Returns how many there are. */
function switchStates({ offsets, states }: StatesByChannel, x: number, off: Uint8Array, to: 0 | 1): number {
  for (let i = offsets[x]!; i < offsets[x + 1]!; i++) off[states[i]!] = to;
  return offsets[x + 1]! - offsets[x]!;
}

function reach(visits: Float64Array, reward: Float64Array): number {
  let sum = 0;
  for (let s = 0; s < visits.length; s++) sum += visits[s]! * reward[s]!;
  return sum;
}

/**
 * Removal effects of a chain of order ≥ 2: expected visits with all states, then once per channel without the states
 * that contain it. One solve serves conversions and revenue, since only the rewards differ. null where that would take
 * too long.
 */
export function higherOrderEffects(
  table: PathTable,
  order: number,
  creditAlone: boolean,
  checkpoint: Checkpoint,
): RemovalEffects | null {
  const channels = table.channels.length;
  const chain = buildKGramChain(table, order, checkpoint);
  const withChannel = statesByChannel(chain, channels);
  const part = creditAlone ? PART_FOR_CREDIT : 1;
  const budget = new SolvingBudget(BUDGET * Math.max(1, table.steps.length / BUDGET_STEPS) * part);
  const solving = { budget, ...(creditAlone && { tolerance: TOLERANCE_OF_CREDIT }) };
  const off = new Uint8Array(chain.size);
  const all = chain.start.slice();
  const outcome = solveVisits(chain, chain.start, off, all, { ...solving, tick: () => checkpoint(0.5) });
  let iterations = outcome.sweeps;
  let converged = outcome.converged;
  const probability = reach(all, chain.conversion);
  const expectedValue = reach(all, chain.value);
  const lost = new Float64Array(channels);
  const lostValue = new Float64Array(channels);
  const holdsChains = !creditAlone && chain.size * channels <= MOST_CHAIN_ENTRIES;
  const passage = holdsChains ? new Float64Array(chain.size * channels) : null;
  for (let x = 0; x < channels; x++) {
    const tick = (): void => checkpoint(0.5 + (x / channels) * 0.5);
    tick();
    if (switchStates(withChannel, x, off, 1) === 0) {
      if (passage !== null) for (let s = 0; s < chain.size; s++) passage[s * channels + x] = 1;
      continue;
    }
    const visits = all.slice();
    const without = solveVisits(chain, chain.start, off, visits, { ...solving, tick });
    if (budget.isSpent) return null;
    switchStates(withChannel, x, off, 0);
    iterations += without.sweeps;
    converged &&= without.converged;
    lost[x] = probability - reach(visits, chain.conversion);
    lostValue[x] = expectedValue - reach(visits, chain.value);
    if (passage !== null)
      for (let s = 0; s < chain.size; s++) passage[s * channels + x] = all[s] === 0 ? 0 : visits[s]! / all[s]!;
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
    chainsWithout: (outcome, checkpoint) => {
      const hope = passage === null ? null : hopes(chain, chain[outcome], withChannel, budget, checkpoint);
      return hope === null || passage === null ? null : { hope, passage };
    },
  };
}

/** Expected outcome from each state, once per removed channel, states × K; null where the budget does not reach. */
function hopes(
  chain: KGramChain,
  reward: Float64Array,
  withChannel: StatesByChannel,
  budget: SolvingBudget,
  checkpoint: Checkpoint,
): ChainsWithout['hope'] | null {
  const channels = withChannel.offsets.length - 1;
  const turned = reversed(chain);
  const off = new Uint8Array(chain.size);
  const all = reward.slice();
  const solving = { budget, tolerance: TOLERANCE_OF_ERRORS, tick: () => checkpoint(0.9) };
  solveVisits(turned, reward, off, all, solving);
  const hope = new Float64Array(chain.size * channels);
  for (let x = 0; x < channels; x++) {
    const without = all.slice();
    if (switchStates(withChannel, x, off, 1) > 0) solveVisits(turned, reward, off, without, solving);
    if (budget.isSpent) return null;
    switchStates(withChannel, x, off, 0);
    for (let s = 0; s < chain.size; s++) hope[s * channels + x] = without[s]!;
  }
  return hope;
}
