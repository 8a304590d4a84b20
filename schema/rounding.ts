/**
 * Rounds half away from zero at `digits` decimals, on the shortest decimal form of the number, so that 1.005 with
 * two digits is 1.01 although its binary value lies below. Not-a-number and infinities become null.
 */
export function roundHalfUp(value: number, digits: number): number | null {
  if (!Number.isFinite(value)) return null;
  const size = Math.abs(value);
  // Beyond 2^53 a double has no decimals left to round.
  if (size === 0 || size >= Number.MAX_SAFE_INTEGER) return value === 0 ? 0 : value;
  const [mantissa, exponent = '0'] = String(size).split('e');
  const scaled = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  const [roundedMantissa, roundedExponent = '0'] = String(scaled).split('e');
  const rounded = Number(`${roundedMantissa}e${Number(roundedExponent) - digits}`);
  return value < 0 && rounded !== 0 ? -rounded : rounded;
}
