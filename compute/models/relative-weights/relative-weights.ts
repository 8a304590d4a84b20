import type { PathTable } from '../../journey-tables.ts';
import { spectralFunction, symmetricEigen } from '../../numerics/symmetric-eigen.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { associate } from '../association.ts';
import type { Explained, Explanation } from '../association.ts';
import type { AssociationResult } from '../association-result.ts';
import type { PresenceCorrelations } from '../channel-presence.ts';
import type { Replication } from '../credit-intervals.ts';

/** Eigenvalues of the correlation matrix below this belong to redundant channels. */
const LEAST_EIGENVALUE = 1e-10;

function product(matrix: Float64Array, vector: Float64Array): Float64Array {
  return vector.map((_, row) => {
    let sum = 0;
    for (let k = 0; k < vector.length; k++) sum += matrix[row * vector.length + k]! * vector[k]!;
    return sum;
  });
}

/**
 * Relative weights (Johnson 2000) of channel presence for conversion and for revenue. With R = VΔVᵀ and Λ = VΔ^½Vᵀ, the
 * outcome is regressed on the orthogonal counterparts of the channels (β = Λ⁺r) and handed back by Λ²: Σ_j Λ_ij²·β_j².
 */
export function runRelativeWeights(table: PathTable, replication: Replication, checkpoint: Checkpoint): AssociationResult<'rwa'> | Failure {
  return associate(
    'rwa',
    table,
    (correlations, checkpoint) => ({
      ...explain(correlations, () => checkpoint(0.5)),
      exact: true,
      evaluations: 0,
      weightsNear: (near, throwIfCancelled) => {
        const { conversion, value } = explain(near, throwIfCancelled);
        return { conversion: conversion.weight, value: value.weight };
      },
    }),
    replication,
    checkpoint,
  );
}

function explain({ varying, between, withConversion, withValue }: PresenceCorrelations, throwIfCancelled: () => void): Pick<Explained, 'conversion' | 'value'> {
  const eigen = symmetricEigen(between, varying.length, throwIfCancelled);
  const used = (f: (value: number) => number) => spectralFunction(eigen, (value) => (value < LEAST_EIGENVALUE ? 0 : f(value)), throwIfCancelled);
  const root = used(Math.sqrt);
  const inverseRoot = used((value) => 1 / Math.sqrt(value));
  const byOutcome = (withOutcome: Float64Array): Explanation => {
    const beta = product(inverseRoot, withOutcome);
    return {
      weight: product(root.map((entry) => entry * entry), beta.map((entry) => entry * entry)),
      standardError: new Float64Array(beta.length),
      // OLS coefficients of the standardised channels: R⁺r = Λ⁺Λ⁺r.
      direction: product(inverseRoot, beta),
    };
  };
  return { conversion: byOutcome(withConversion), value: byOutcome(withValue) };
}
