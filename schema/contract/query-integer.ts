import { z } from 'zod';

/** A whole number in a query string, shown as an integer in the documentation. */
export function queryInteger(least: number, most: number, description: string) {
  const expected = `must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, expected)
    .transform(Number)
    .refine((value) => value >= least && value <= most, expected)
    .meta({ description, openapi: { type: 'integer', minimum: least, maximum: most } });
}
