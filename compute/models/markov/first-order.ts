import type { PathTable } from '../../journey-tables.ts';
import { factorise, solveInto } from '../../numerics/linear-solve.ts';
import type { Checkpoint } from '../../outcome.ts';
import { PATHS_PER_CHECK } from '../credits.ts';
import type { ChainsWithout, Outcome, RemovalEffects } from './removal-effects.ts';

/** Flows between the channels: sums over paths, consecutive equal channels collapsed. */
interface Flows {
  /** K × K, row-major */
  readonly between: Float64Array;
  readonly start: Float64Array;
  readonly conversions: Float64Array;
  readonly value: Float64Array;
  /** everything that leaves the channel, nulls included */
  readonly out: Float64Array;
}

function sumFlows({ channels, offsets, steps, conversions, value, nulls }: PathTable, checkpoint: Checkpoint): Flows {
  const size = channels.length;
  const flows: Flows = {
    between: new Float64Array(size * size),
    start: new Float64Array(size),
    conversions: new Float64Array(size),
    value: new Float64Array(size),
    out: new Float64Array(size),
  };
  const { between, start, out } = flows;
  const paths = conversions.length;
  for (let p = 0; p < paths; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint(p / paths);
    const weight = conversions[p]! + nulls[p]!;
    const first = offsets[p]!;
    const end = offsets[p + 1]!;
    if (first === end) continue;
    let state = steps[first]!;
    start[state]! += weight;
    for (let i = first + 1; i < end; i++) {
      const next = steps[i]!;
      if (next === state) continue;
      between[state * size + next]! += weight;
      state = next;
    }
    flows.conversions[state]! += conversions[p]!;
    flows.value[state]! += value[p]!;
    out[state]! += weight;
  }
  for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) out[i]! += between[i * size + j]!;
  return flows;
}

interface FirstOrderEffects extends RemovalEffects {
  readonly chainsWithout: (outcome: Outcome) => ChainsWithout;
}

/**
 * Removal effects of the first-order chain. With F = (I − Q)⁻¹ factored once, removing x is a rank-one change:
 * P − P₋ₓ = (start·F)ₓ / Fₓₓ · (F·b)ₓ.
 */
export function firstOrderEffects(table: PathTable, checkpoint: Checkpoint): FirstOrderEffects | null {
  const size = table.channels.length;
  const flows = sumFlows(table, checkpoint);
  const system = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++)
      system[i * size + j] =
        (i === j ? 1 : 0) - (flows.out[i] === 0 ? 0 : flows.between[i * size + j]! / flows.out[i]!);
  }
  const factored = factorise(system, size, () => checkpoint(0.9));
  if (factored === null) return null;
  let journeys = 0;
  let states = 0;
  for (let i = 0; i < size; i++) {
    journeys += flows.start[i]!;
    if (flows.out[i]! > 0) states++;
  }
  const visits = new Float64Array(size);
  const toConversion = new Float64Array(size);
  const toValue = new Float64Array(size);
  const unit = new Float64Array(size);
  const column = new Float64Array(size);
  /** F by columns: entry x·K + i is F_ix */
  const fundamental = new Float64Array(size * size);
  for (let x = 0; x < size; x++) {
    checkpoint(1);
    if (flows.out[x] === 0) continue;
    unit[x] = 1;
    solveInto(factored, unit, column);
    unit[x] = 0;
    fundamental.set(column, x * size);
    const converts = flows.conversions[x]! / flows.out[x]!;
    const earns = flows.value[x]! / flows.out[x]!;
    for (let i = 0; i < size; i++) {
      visits[x]! += (flows.start[i]! / journeys) * column[i]!;
      toConversion[i]! += column[i]! * converts;
      toValue[i]! += column[i]! * earns;
    }
  }
  let probability = 0;
  let expectedValue = 0;
  for (let i = 0; i < size; i++) {
    probability += (flows.start[i]! / journeys) * toConversion[i]!;
    expectedValue += (flows.start[i]! / journeys) * toValue[i]!;
  }
  const lost = new Float64Array(size);
  const lostValue = new Float64Array(size);
  for (let x = 0; x < size; x++) {
    if (flows.out[x] === 0) continue;
    const through = visits[x]! / fundamental[x * size + x]!;
    lost[x] = through * toConversion[x]!;
    lostValue[x] = through * toValue[x]!;
  }
  const chainsWithout = (outcome: Outcome): ChainsWithout =>
    removals(fundamental, visits, outcome === 'value' ? toValue : toConversion);
  return {
    states,
    probability,
    expectedValue,
    lost,
    lostValue,
    iterations: 0,
    converged: true,
    statesOf: channelWalk(table),
    chainsWithout,
  };
}

/** The same rank-one change for every state: h₋ₓ(i) = h(i) − F_ix·h(x)/F_xx, u₋ₓ(i) = u(i) − u(x)·F_xi/F_xx. */
function removals(fundamental: Float64Array, visits: Float64Array, outcome: Float64Array): ChainsWithout {
  const size = visits.length;
  const hope = new Float64Array(size * size);
  const passage = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    if (visits[i] === 0) continue;
    for (let x = 0; x < size; x++) {
      if (x === i) continue;
      const returns = fundamental[x * size + x]!;
      hope[i * size + x] = outcome[i]! - (returns === 0 ? 0 : (fundamental[x * size + i]! * outcome[x]!) / returns);
      passage[i * size + x] =
        1 - (returns === 0 ? 0 : (visits[x]! * fundamental[i * size + x]!) / returns / visits[i]!);
    }
  }
  return { hope, passage };
}

function channelWalk({ offsets, steps }: PathTable): RemovalEffects['statesOf'] {
  return (p, into) => {
    let count = 0;
    for (let i = offsets[p]!; i < offsets[p + 1]!; i++)
      if (count === 0 || steps[i] !== into[count - 1]) into[count++] = steps[i]!;
    return count;
  };
}
