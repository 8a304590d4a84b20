import { DIGITS } from './contract/contract.ts';
import { roundHalfUp } from './rounding.ts';

/** Decimals of a fraction that says nothing of them. */
export const RATIO_DIGITS = 4;

/**
 * How a figure is shown, at every door: rounded half up, to the decimals that the contract says of its member. Null for
 * scalars that are no figures.
 * @param scalar of the graph
 * @param member `Type.member` of the graph
 */
export function figureShaper(scalar: string, member: string): ((value: unknown) => unknown) | null {
  const own = DIGITS.get(member);
  if (scalar === 'Float') return (value) => roundHalfUp(Number(value), own ?? RATIO_DIGITS);
  // A map of figures; any other JSON passes as it is.
  if (scalar === 'JSON' && own !== undefined) return (value) => roundAll(value, own);
  return null;
}

/** Every number in a value of JSON, rounded. */
export function roundAll(value: unknown, digits: number): unknown {
  if (typeof value === 'number') return roundHalfUp(value, digits);
  if (Array.isArray(value)) return value.map((item) => roundAll(item, digits));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, roundAll(item, digits)]));
}
