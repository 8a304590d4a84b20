import { z } from 'zod';
import { parseRateLimits } from '../../services/identity/limits/rate-limits.ts';
import { parseTrustWeights } from '../../services/trust/weights.ts';

// Values of environment variables. The message of each reads on from "expected …".

/** A whole number within both bounds; `unit` ends the expectation, such as " seconds". */
export const wholeNumber = (least: number, most: number, unit = '') => {
  const expected = `a whole number from ${least} to ${most}${unit}`;
  return z
    .string(expected)
    .regex(/^\d{1,16}$/, expected)
    .transform(Number)
    .refine((value) => value >= least && value <= most, expected);
};
/** A decimal number within both bounds. */
export const fraction = (least: number, most: number) => {
  const expected = `a number from ${least} to ${most}`;
  return z
    .string(expected)
    .regex(/^\d{1,9}(?:\.\d{1,9})?$/, expected)
    .transform(Number)
    .refine((value) => value >= least && value <= most, expected);
};
/** A calendar day, `YYYY-MM-DD`, not before another. */
export const dayFrom = (earliest: string) => {
  const expected = `a day, YYYY-MM-DD, from ${earliest}`;
  return z.iso.date(expected).refine((day) => day >= earliest, expected);
};
/** One of a closed list. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `one of ${values.join(', ')}`);
/** true, false, 1 or 0. */
export const flag = z
  .enum(['true', 'false', '1', '0'], 'true or false')
  .transform((value) => value === 'true' || value === '1');

const url = (schemes: readonly string[], example: string) =>
  z
    .string()
    .refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol), `a URL such as ${example}`);
/** An http(s) address, without a slash at its end. */
export const httpUrl = (example: string) =>
  url(['http:', 'https:'], example).transform((value) => value.replace(/\/+$/, ''));
/** The address of a REST API. */
export const baseUrl = httpUrl('https://api.example/v1').refine(
  (value) => value.endsWith('/v1'),
  'a URL that ends in /v1, such as https://api.example/v1',
);
/** A PostgreSQL connection string. */
export const postgresUrl = url(['postgres:', 'postgresql:'], 'postgresql://user:password@host:5432/liftgraph');

/** A page's origin as browsers send it: scheme, host and port, nothing behind. */
export const origin = z
  .string()
  .refine((value) => value === '*' || (URL.canParse(value) && new URL(value).origin === value));
/** Values separated by commas. */
export const listOf = (item: z.ZodType<string>, expected: string) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .refine((parts) => z.array(item).safeParse(parts).success, expected);

const WEIGHTS =
  'the weights of detection, attribution, provenance, consistency and taxonomy, with sum 1, such as ' +
  'detection=0.25,attribution=0.25,provenance=0.2,consistency=0.2,taxonomy=0.1';
/** `component=weight,…` */
export const trustWeights = z.string().transform((text, context) => {
  const weights = parseTrustWeights(text);
  if (weights === null) context.addIssue(WEIGHTS);
  return weights ?? z.NEVER;
});

const RATE_LIMITS =
  'classes with calls per minute and, where days are limited, per day, such as standard=200,discovery=60/20000';
/** `class=perMinute/perDay,…` */
export const rateLimits = z.string().transform((text, context) => {
  const limits = parseRateLimits(text);
  if (limits === null) context.addIssue(RATE_LIMITS);
  return limits ?? z.NEVER;
});
