import { z } from 'zod';

/** A decimal number in a query string, shown as a number in the documentation. */
export function queryNumber(least: number, most: number, fallback: number) {
  const expected = `must be a number from ${least} to ${most}`;
  return z
    .string()
    .refine((text) => /^-?\d+(\.\d+)?$/.test(text), { error: expected, abort: true })
    .transform(Number)
    .pipe(z.number().min(least, expected).max(most, expected))
    .meta({ openapi: { type: 'number', minimum: least, maximum: most, default: fallback } });
}
