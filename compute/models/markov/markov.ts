import type { PathTable } from '../../journey-tables.ts';
import { failure, insufficientData } from '../../outcome.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { creditIntervals, JOURNEY_GROUPS, noIntervals } from '../credit-intervals.ts';
import type { Replication } from '../credit-intervals.ts';
import { divide, sharesOf, sumOf, totalsOf } from '../credits.ts';
import { creditReplicates } from './credit-replicates.ts';
import type { Credited } from './credit-replicates.ts';
import { firstOrderEffects } from './first-order.ts';
import { higherOrderEffects } from './higher-order.ts';
import type { MarkovResult } from './markov-result.ts';

/** The dense factorisation of order 1 takes seconds here, and grows with the cube. */
const MOST_CHANNELS = 1_000;

/**
 * Markov attribution of order 1 to 4 (Anderl, Becker, von Wangenheim & Schumann 2016), solved exactly: credits are the
 * removal effects normalised to the conversions (revenue) of all paths.
 */
export function runMarkov(
  table: PathTable,
  order: number,
  replication: Replication,
  checkpoint: Checkpoint,
): MarkovResult | Failure {
  if (!Number.isInteger(order) || order < 1 || order > 4)
    return failure('invalid_input', `The Markov order must be 1, 2, 3 or 4, not ${order}.`);
  const totals = totalsOf(table);
  if (totals.paths === 0) return insufficientData('There are no journeys with a touch in this range.');
  if (totals.conversions === 0)
    return insufficientData('No journey with a touch converted in this range, so there is nothing to divide.');
  if (table.channels.length > MOST_CHANNELS)
    return failure(
      'too_many_channels',
      `A Markov chain is solved for up to ${MOST_CHANNELS} channels; this data has ` +
        `${table.channels.length}. Merge some.`,
    );
  const solved = (fraction: number): void => checkpoint(fraction * 0.8);
  const { creditAlone = false } = replication;
  const effects =
    order === 1 ? firstOrderEffects(table, solved) : higherOrderEffects(table, order, creditAlone, solved);
  if (effects === null && order > 1) {
    const chain = `A Markov chain of order ${order} of these ${table.channels.length} channels`;
    return failure('too_many_channels', `${chain} takes too long to solve. Choose a lower order, or merge channels.`);
  }
  if (effects === null) return failure('out_of_range', 'The transition matrix is singular.');
  const warnings: string[] = [];
  if (!effects.converged) warnings.push('The solver of the Markov chain stopped before full precision.');
  const conversions = divide(effects.lost, totals.conversions);
  // Refunds can cancel the effects of revenue: their normalised form would then blow up, and conversions divide it
  // instead.
  const valueEffects = sumOf(effects.lostValue);
  const sizeOfEffects = effects.lostValue.reduce((sum, effect) => sum + Math.abs(effect), 0);
  const divisible =
    Math.abs(valueEffects) > sizeOfEffects * 1e-9 && Math.sign(valueEffects) === Math.sign(totals.value);
  if (!divisible && totals.value !== 0)
    warnings.push('Refunds cancel the revenue effects of the Markov chain: it divides revenue like conversions.');
  const value = divisible ? divide(effects.lostValue, totals.value) : divide(effects.lost, totals.value);
  const credited: Credited = { value, outcome: divisible ? 'value' : 'conversion', totals };
  const result = {
    ok: true,
    model: 'markov',
    channels: table.channels,
    order,
    totals,
    states: effects.states,
    probability: effects.probability,
    expectedValue: effects.expectedValue,
    removalEffect: effects.lost.map((lost) => lost / effects.probability),
    removalEffectValue: effects.lostValue.map((lost) =>
      effects.expectedValue === 0 ? 0 : lost / effects.expectedValue,
    ),
    conversions,
    value,
    share: sharesOf(value, conversions),
    iterations: effects.iterations,
    converged: effects.converged,
    warnings,
  } as const;
  if (creditAlone) return { ...result, ...noIntervals(value) };
  const followed = (fraction: number): void => checkpoint(0.9 + fraction * 0.1);
  const chains = effects.chainsWithout(credited.outcome, (fraction) => checkpoint(0.8 + fraction * 0.1));
  const replicates =
    chains === null
      ? carriedOver(table, credited, replication.seed, followed)
      : creditReplicates(table, effects, chains, credited, replication.seed, followed);
  if (replicates === null) return failure('out_of_range', 'The transition matrix is singular.');
  if (chains === null)
    warnings.push(
      `A chain of order ${order} has too many states here for errors of its own: relative to the credit, the ` +
        `intervals are as wide as those of order 1.`,
    );
  return { ...result, ...creditIntervals(value, replicates, JOURNEY_GROUPS, replication) };
}

/** Replicates of order 1, stretched to the credit at hand. */
function carriedOver(table: PathTable, credited: Credited, seed: number, checkpoint: Checkpoint): Float64Array | null {
  const first = firstOrderEffects(table, checkpoint);
  if (first === null) return null;
  const value = divide(credited.outcome === 'value' ? first.lostValue : first.lost, credited.totals.value);
  const replicates = creditReplicates(
    table,
    first,
    first.chainsWithout(credited.outcome),
    { ...credited, value },
    seed,
    checkpoint,
  );
  return replicates.map((replicate, i) => {
    const x = i % value.length;
    return value[x] === 0 ? credited.value[x]! : (replicate / value[x]!) * credited.value[x]!;
  });
}
