import type { PathTable } from '../../journey-tables.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { associate } from '../association.ts';
import type { AssociationResult } from '../association-result.ts';
import type { Replication } from '../credit-intervals.ts';
import { exactDominance } from './exact-dominance.ts';
import { dominanceNear, PAIRS, PAIRS_FOR_CREDIT, sampledDominance } from './sampled-dominance.ts';

/** All 2^20 subsets take a few dozen milliseconds; each channel more doubles that. */
const MOST_EXACT_CHANNELS = 20;
/**
 * All subsets of so few channels take a fraction of a millisecond: every replicate of the jackknife can have them, too.
 */
const MOST_EXACT_REPLICATES = 12;

/**
 * General dominance weights (Budescu 1993; equal to LMG, Lindeman, Merenda & Gold 1980) of channel presence for
 * conversion and for revenue. The seed orders the sampling above 20 varying channels.
 */
export function runDominance(
  table: PathTable,
  replication: Replication,
  checkpoint: Checkpoint,
): AssociationResult<'dominance'> | Failure {
  const { seed, creditAlone = false } = replication;
  return associate(
    'dominance',
    table,
    (correlations, checkpoint) => {
      const channels = correlations.varying.length;
      const exact = channels <= MOST_EXACT_CHANNELS;
      const pairs = creditAlone ? PAIRS_FOR_CREDIT : PAIRS;
      const weights = exact
        ? exactDominance(correlations, checkpoint)
        : sampledDominance(correlations, seed, checkpoint, pairs);
      return {
        conversion: {
          weight: weights.conversion,
          standardError: weights.conversionError,
          direction: correlations.withConversion,
        },
        value: { weight: weights.value, standardError: weights.valueError, direction: correlations.withValue },
        exact,
        evaluations: weights.evaluations,
        weightsNear:
          channels <= MOST_EXACT_REPLICATES
            ? (near, throwIfCancelled) => exactDominance(near, throwIfCancelled)
            : dominanceNear(correlations, weights, seed),
      };
    },
    replication,
    checkpoint,
  );
}
