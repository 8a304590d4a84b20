import { TRUST_COMPONENTS, type TrustWeights } from '../../schema/trust-envelope.ts';

export const DEFAULT_TRUST_WEIGHTS: TrustWeights = {
  detection: 0.25,
  attribution: 0.25,
  provenance: 0.2,
  consistency: 0.2,
  taxonomy: 0.1,
};

/** Sums of decimals miss 1 by this much at most. */
const ROUNDING = 1e-9;

/**
 * Reads `detection=0.25,attribution=0.25,provenance=0.2,consistency=0.2,taxonomy=0.1`, in any order.
 * @returns null unless each component stands there once, with a weight of 0 or more, and all sum to 1
 */
export function parseTrustWeights(text: string): TrustWeights | null {
  const entries = text.split(',').map((part) => /^\s*([a-z]+)\s*=\s*(\d+(?:\.\d+)?|\.\d+)\s*$/.exec(part));
  const weights = new Map(entries.flatMap((entry) => (entry === null ? [] : [[entry[1]!, Number(entry[2])] as const])));
  if (
    entries.includes(null) ||
    entries.length !== TRUST_COMPONENTS.length ||
    !TRUST_COMPONENTS.every((component) => weights.has(component))
  )
    return null;
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  return Math.abs(sum - 1) <= ROUNDING
    ? (Object.fromEntries(TRUST_COMPONENTS.map((component) => [component, weights.get(component)!])) as TrustWeights)
    : null;
}

let current = DEFAULT_TRUST_WEIGHTS;

/** The weights of this process: every envelope publishes them, also those of records, wherever they are made. */
export const trustWeights = (): TrustWeights => current;

/** Set once, at start, from the configuration. */
export function useTrustWeights(weights: TrustWeights): void {
  current = weights;
}
