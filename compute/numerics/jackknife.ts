/**
 * Standard error of an estimate by the delete-a-group jackknife (Kott 2001): √((G − 1)/G · Σ (θ₍₋g₎ − mean)²).
 * The G replicates are `replicates[start + g · stride]`.
 */
export function jackknifeError(replicates: Float64Array, groups: number, start = 0, stride = 1): number {
  if (groups < 2) return 0;
  let mean = 0;
  for (let g = 0; g < groups; g++) mean += replicates[start + g * stride]!;
  mean /= groups;
  let squares = 0;
  for (let g = 0; g < groups; g++) squares += (replicates[start + g * stride]! - mean) ** 2;
  return Math.sqrt(((groups - 1) / groups) * squares);
}
