import type { DeltaR } from './causal-result.ts';

/**
 * Revenue in cents that last click hid from the channels it under-credits: credit − last click over the paid channels
 * that earned more than it gave them.
 */
export function recovered(credit: Float64Array, lastClick: Float64Array, isBaseline: Uint8Array): number {
  let sum = 0;
  for (let c = 0; c < credit.length; c++)
    if (isBaseline[c] !== 1 && credit[c]! > 0) sum += Math.max(0, credit[c]! - lastClick[c]!);
  return sum;
}

/**
 * Delta_R from the published cents; `low` and `high` (major units) are cut to what the revenue allows and widened to
 * contain it. `isLeftOut`: 1 = baseline, or not measurable.
 */
export function deltaROf(
  valueCents: Float64Array,
  lastClickCents: Float64Array,
  isLeftOut: Uint8Array,
  revenueCents: number,
  [low, high]: readonly [number, number],
): DeltaR {
  const deltaCents = valueCents.map((cents, c) => (isLeftOut[c] === 1 ? 0 : cents - lastClickCents[c]!));
  const underCredited = Array.from(deltaCents.keys()).filter((c) => deltaCents[c]! > 0 && valueCents[c]! > 0);
  const sumOver = (cents: Float64Array): number => underCredited.reduce((sum, c) => sum + cents[c]!, 0);
  const revenueCausalCents = sumOver(valueCents);
  const revenueLastClickCents = sumOver(lastClickCents);
  const deltaRCents = revenueCausalCents - revenueLastClickCents;
  return {
    deltaCents,
    underCredited,
    revenueCausalCents,
    revenueLastClickCents,
    deltaRCents,
    deltaRNetCents: deltaCents.reduce((sum, cents) => sum + cents, 0),
    lowCents: Math.max(0, Math.min(Math.round(low * 100), deltaRCents)),
    highCents: Math.max(Math.min(Math.round(high * 100), revenueCents), deltaRCents),
  };
}
