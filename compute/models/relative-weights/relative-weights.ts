import type { PathTable } from '../../journey-tables.ts';
import { dot } from '../../numerics/dot.ts';
import { spectralFunction, symmetricEigen } from '../../numerics/symmetric-eigen.ts';
import type { Eigen } from '../../numerics/symmetric-eigen.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { associate } from '../association.ts';
import type { Explained, Explanation } from '../association.ts';
import type { AssociationResult } from '../association-result.ts';
import type { PresenceCorrelations } from '../channel-presence.ts';
import type { Replication } from '../credit-intervals.ts';

/** Eigenvalues of the correlation matrix below this belong to redundant channels. */
const LEAST_EIGENVALUE = 1e-10;

/** Σ over the eigenvectors of `of(eigenvalue)` times the part of `vector` along them. */
function applied({ values, vectors }: Eigen, of: (value: number) => number, vector: Float64Array): Float64Array {
  const size = vector.length;
  const result = new Float64Array(size);
  values.forEach((value, k) => {
    const along = of(value) * dot(vectors, k * size, vector, 0, size);
    for (let i = 0; i < size; i++) result[i]! += along * vectors[k * size + i]!;
  });
  return result;
}

/**
 * Relative weights (Johnson 2000) of channel presence for conversion and for revenue. With R = VΔVᵀ and Λ = VΔ^½Vᵀ, the
 * outcome is regressed on the orthogonal counterparts of the channels (β = Λ⁺r) and handed back by Λ²: Σ_j Λ_ij²·β_j².
 */
export function runRelativeWeights(
  table: PathTable,
  replication: Replication,
  checkpoint: Checkpoint,
): AssociationResult<'rwa'> | Failure {
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

function explain(
  { varying, between, withConversion, withValue }: PresenceCorrelations,
  throwIfCancelled: () => void,
): Pick<Explained, 'conversion' | 'value'> {
  const size = varying.length;
  const eigen = symmetricEigen(between, size, throwIfCancelled);
  const used =
    (f: (value: number) => number) =>
    (value: number): number =>
      value < LEAST_EIGENVALUE ? 0 : f(value);
  const inverseRoot = used((value) => 1 / Math.sqrt(value));
  const parts = spectralFunction(eigen, used(Math.sqrt), throwIfCancelled).map((entry) => entry * entry);
  const byOutcome = (withOutcome: Float64Array): Explanation => {
    const beta = applied(eigen, inverseRoot, withOutcome);
    const squares = beta.map((entry) => entry * entry);
    return {
      weight: squares.map((_, i) => dot(parts, i * size, squares, 0, size)),
      standardError: new Float64Array(size),
      // OLS coefficients of the standardised channels: R⁺r = Λ⁺Λ⁺r.
      direction: applied(eigen, inverseRoot, beta),
    };
  };
  return { conversion: byOutcome(withConversion), value: byOutcome(withValue) };
}
