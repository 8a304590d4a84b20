import { z } from 'zod';

/**
 * A list in a query string: `name=a,b`, also repeated.
 * @param shown what the documentation says of the list beside its being one
 */
export function queryList<Element extends z.ZodType>(
  list: z.ZodArray<Element>,
  shown: Readonly<Record<string, unknown>>,
) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => [value].flat().flatMap((each) => each.split(',')))
    .pipe(list as z.ZodArray<Element> & z.ZodType<unknown, string[]>)
    .meta({ openapi: { type: 'array', ...shown } });
}
