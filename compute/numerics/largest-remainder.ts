/**
 * Rounds `amounts` (any sign) to integers that sum to `total` exactly: each is rounded down, and the units left over go
 * to the largest fractional parts, ties to the lower index. `total` must lie within rounding of the sum; a larger gap
 * is spread in whole rounds over the non-zero amounts (over all of them, where all are zero).
 */
export function largestRemainder(amounts: Float64Array, total: number): Float64Array {
  const rounded = amounts.map(Math.floor);
  let left = total - rounded.reduce((sum, amount) => sum + amount, 0);
  if (amounts.length === 0 || left === 0) return rounded;
  const nonZero = amounts.some((amount) => amount !== 0);
  const byRemainder = Array.from(amounts.keys()).filter((i) => !nonZero || amounts[i] !== 0);
  byRemainder.sort((i, j) => amounts[j]! - rounded[j]! - (amounts[i]! - rounded[i]!) || i - j);
  const rounds = Math.trunc(left / byRemainder.length);
  for (const i of byRemainder) rounded[i]! += rounds;
  left -= rounds * byRemainder.length;
  if (left < 0) byRemainder.reverse();
  for (const i of byRemainder.slice(0, Math.abs(left))) rounded[i]! += Math.sign(left);
  return rounded;
}

/** Half away from zero, as money is rounded. */
export const toCents = (amount: number): number => {
  // Scaling by text keeps 1.005 at 100.5 cents, which amount * 100 does not.
  const scaled = Math.abs(amount) < 1e15 ? Number(`${Math.abs(amount)}e2`) : Math.abs(amount) * 100;
  const cents = Number.isNaN(scaled) ? Math.abs(amount) * 100 : scaled;
  return Math.sign(amount) * Math.round(cents) + 0; // + 0: no −0
};
