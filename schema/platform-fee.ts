/** Share of the recovered revenue that is charged, as an exact fraction (interface specification §1: 5 %). */
export const FEE_RATE = { numerator: 5n, denominator: 100n } as const;

/** Least fee of an analysis that is charged (interface specification §1: 0.10 USD). */
export const FEE_FLOOR_CENTS = 10n;

/**
 * Fee of one analysis on a plan with fees: `max(round_half_up(delta_r_cents · 5 / 100), 10)` (interface specification
 * §1). Integer arithmetic throughout, so that no binary fraction ever decides a cent.
 * @param deltaRCents recovered revenue in cents, ≥ 0
 */
export function platformFeeCents(deltaRCents: bigint): bigint {
  if (deltaRCents < 0n) throw new RangeError(`recovered revenue must be cents ≥ 0, not ${deltaRCents}`);
  const { numerator, denominator } = FEE_RATE;
  const rounded = (2n * deltaRCents * numerator + denominator) / (2n * denominator);
  return rounded > FEE_FLOOR_CENTS ? rounded : FEE_FLOOR_CENTS;
}

/** The fee of an analysis as every door shows it, in cents; null until the analysis has completed. */
export interface ShownFee {
  readonly platformFeeCents: number | null;
  /** False where nothing is charged, whatever the fee says. */
  readonly billed: false | null;
}

/** From this recovered revenue on the share is the fee; below it the floor. */
export const FLOOR_BELOW_CENTS = (FEE_FLOOR_CENTS * FEE_RATE.denominator) / FEE_RATE.numerator;
