/**
 * Rounds half away from zero at `digits` decimals, on the shortest decimal form of the number, so that 1.005 with
 * two digits is 1.01 although its binary value lies below. Not-a-number and infinities become null.
 */
export function roundHalfUp(value: number, digits: number): number | null {
  if (!Number.isFinite(value)) return null;
  const size = Math.abs(value);
  // Beyond 2^53 a double has no decimals left to round.
  if (size === 0 || size >= Number.MAX_SAFE_INTEGER) return value === 0 ? 0 : value;
  const rounded = farFromTie(size, digits) ?? byDecimals(size, digits);
  return value < 0 && rounded !== 0 ? -rounded : rounded;
}

/** Below this a product is off by far less than {@link TIE}. */
const SAFE = 1e9;
/** How near to a half binary arithmetic is not trusted to tell on which side a number lies. */
const TIE = 1e-6;

/**
 * Plain arithmetic, where no tie is near; undefined elsewhere. A quotient of whole numbers is the double that is
 * nearest to the decimal.
 */
function farFromTie(size: number, digits: number): number | undefined {
  const unit = 10 ** digits;
  const scaled = size * unit;
  if (scaled >= SAFE || Math.abs(scaled - Math.floor(scaled) - 0.5) < TIE) return undefined;
  return Math.round(scaled) / unit;
}

/** On the digits themselves: scaled by a power of ten, a number just below a tie can become the tie. */
function byDecimals(size: number, digits: number): number {
  const [mantissa = '', exponent = '0'] = String(size).split('e');
  const [whole = '', decimals = ''] = mantissa.split('.');
  const written = whole + decimals;
  const kept = whole.length + Number(exponent) + digits;
  if (kept < 0) return 0;
  const steps = BigInt(written.slice(0, kept).padEnd(kept, '0')) + (Number(written[kept] ?? '0') >= 5 ? 1n : 0n);
  return Number(`${steps}e-${digits}`);
}
