import { z } from 'zod';

/** A whole number in a query string, shown as an integer in the documentation. */
export function queryInteger(least: number, most: number, description: string) {
  const expected = `must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .refine((text) => /^-?\d+$/.test(text), { error: expected, abort: true })
    .transform(Number)
    .pipe(z.number().min(least, expected).max(most, expected))
    .meta({ description, openapi: { type: 'integer', minimum: least, maximum: most } });
}
