import type { Environment } from './principal.ts';

/** Share of the recovered revenue that is charged, as an exact fraction (interface specification §1: 5 %). */
export const FEE_RATE = { numerator: 5, denominator: 100 } as const;

/** Least fee of a completed analysis (interface specification §1: 0.10 USD). */
export const FEE_FLOOR_CENTS = 10;

/**
 * Fee of one analysis: `max(round_half_up(delta_r_cents · 5 / 100), 10)` (interface specification §1).
 * Integer arithmetic throughout, so that no binary fraction ever decides a cent.
 * @param deltaRCents recovered revenue in cents, an integer ≥ 0.
 */
export function platformFeeCents(deltaRCents: number): number {
  if (!Number.isSafeInteger(deltaRCents) || deltaRCents < 0)
    throw new RangeError(`recovered revenue must be whole cents ≥ 0, not ${deltaRCents}`);
  const doubled = 2n * BigInt(deltaRCents) * BigInt(FEE_RATE.numerator);
  const denominator = BigInt(FEE_RATE.denominator);
  const rounded = (doubled + denominator) / (2n * denominator);
  return Math.max(Number(rounded), FEE_FLOOR_CENTS);
}

/** Whether the fee of an analysis is charged: in the sandbox it is only shown. Null where nothing is said of it. */
export function isBilled(environment: Environment): false | null {
  return environment === 'sandbox' ? false : null;
}
