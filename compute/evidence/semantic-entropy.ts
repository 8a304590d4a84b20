import { seededRandom } from '../numerics/random.ts';

/** Bootstrap draws. */
const DRAWS = 200;
/** Two channels whose credits differ by less than this share of the total are not ranked. */
const IMMATERIAL = 0.01;

/** What a model credits to channels, and what it would credit without each group of users. */
export interface GroupedCredit {
  /** credited revenue per channel */
  readonly value: Float64Array;
  /** delete-a-group estimates, groups × channels, row-major */
  readonly replicates: Float64Array;
  readonly groups: number;
  /** published interval per channel; null where the model has none, and then every pair of channels is compared */
  readonly intervalLow: Float64Array | null;
  readonly intervalHigh: Float64Array | null;
}

/**
 * Semantic entropy (Farquhar et al. 2024) of the ranking: B = 200 bootstrap draws over the groups of users, resampling
 * the jackknife's pseudo-values G·θ − (G − 1)·θ₍₋g₎ (Efron & Tibshirani 1993, ch. 11), are clustered by meaning;
 * Shannon entropy of the cluster sizes / ln B, in [0, 1]. Two draws mean the same unless they rank two channels in
 * opposite order whose published intervals overlap (between others the intervals have decided already) and whose
 * credits differ by at least 1 % of the total.
 */
export function semanticEntropy(credit: GroupedCredit, seed: number): number {
  const { value, replicates, groups } = credit;
  const channels = value.length;
  // Without groups nothing can be resampled, and nothing is known of what other users would have said.
  if (groups < 2) return 1;
  const ofPoint = value.reduce((sum, amount) => sum + Math.max(0, amount), 0);
  const ofReplicates = replicates.reduce((sum, amount) => sum + Math.max(0, amount), 0) / groups;
  const total = Math.max(ofPoint, ofReplicates);
  if (total === 0) return 0;
  const pairs = comparablePairs(credit, IMMATERIAL * total);
  const random = seededRandom(seed);
  const leaders: Float64Array[] = [];
  const sizes: number[] = [];
  for (let draw = 0; draw < DRAWS; draw++) {
    const sum = new Float64Array(channels);
    for (let g = 0; g < groups; g++) {
      const row = Math.floor(random() * groups) * channels;
      for (let c = 0; c < channels; c++) sum[c]! += groups * value[c]! - (groups - 1) * replicates[row + c]!;
    }
    const drawn = sum.map((amount) => amount / groups);
    const cluster = leaders.findIndex((leader) => !contradict(leader, drawn, pairs, IMMATERIAL * total));
    if (cluster >= 0) sizes[cluster]! += 1;
    else {
      leaders.push(drawn);
      sizes.push(1);
    }
  }
  const entropy = sizes.reduce((sum, size) => sum - (size / DRAWS) * Math.log(size / DRAWS), 0);
  return Math.min(1, Math.max(0, entropy / Math.log(DRAWS)));
}

/**
 * Pairs of channels of which at least one has a material credit and whose intervals overlap, one pair after the other.
 */
function comparablePairs({ value, intervalLow, intervalHigh }: GroupedCredit, material: number): Uint16Array {
  const pairs: number[] = [];
  for (let a = 0; a < value.length; a++) {
    for (let b = a + 1; b < value.length; b++) {
      if (Math.max(value[a]!, value[b]!) < material) continue;
      const overlap =
        intervalLow === null ||
        intervalHigh === null ||
        (intervalLow[a]! <= intervalHigh[b]! && intervalLow[b]! <= intervalHigh[a]!);
      if (overlap) pairs.push(a, b);
    }
  }
  return Uint16Array.from(pairs);
}

function contradict(one: Float64Array, other: Float64Array, pairs: Uint16Array, material: number): boolean {
  for (let i = 0; i < pairs.length; i += 2) {
    const inOne = one[pairs[i]!]! - one[pairs[i + 1]!]!;
    const inOther = other[pairs[i]!]! - other[pairs[i + 1]!]!;
    if ((inOne >= material && inOther <= -material) || (inOne <= -material && inOther >= material)) return true;
  }
  return false;
}
