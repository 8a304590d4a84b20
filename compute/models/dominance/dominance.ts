import type { PathTable } from '../../journey-tables.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { associate } from '../association.ts';
import type { AssociationResult } from '../association-result.ts';
import { exactDominance } from './exact-dominance.ts';
import { sampledDominance } from './sampled-dominance.ts';

/** All 2^20 subsets take a few dozen milliseconds; each channel more doubles that. */
const MOST_EXACT_CHANNELS = 20;

/**
 * General dominance weights (Budescu 1993; equal to LMG, Lindeman, Merenda & Gold 1980) of channel presence for conversion
 * and for revenue. `seed` orders the sampling above 20 varying channels.
 */
export function runDominance(table: PathTable, seed: number, checkpoint: Checkpoint): AssociationResult<'dominance'> | Failure {
  return associate(
    'dominance',
    table,
    (correlations, checkpoint) => {
      const exact = correlations.varying.length <= MOST_EXACT_CHANNELS;
      const weights = exact ? exactDominance(correlations, checkpoint) : sampledDominance(correlations, seed, checkpoint);
      return {
        conversion: { weight: weights.conversion, standardError: weights.conversionError, direction: correlations.withConversion },
        value: { weight: weights.value, standardError: weights.valueError, direction: correlations.withValue },
        exact,
        evaluations: weights.evaluations,
      };
    },
    checkpoint,
  );
}
