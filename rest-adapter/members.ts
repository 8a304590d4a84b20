import type { z } from 'zod';
import { ProblemError } from '../schema/problems.ts';
import type { Json } from './operation.ts';

/**
 * The object at a path of members in shaped data.
 * @throws ProblemError `resource_not_found` where the graph answered null: it is not there, or not the caller's.
 */
export function objectAt(data: Json, ...path: readonly string[]): Json {
  let value: unknown = data;
  for (const name of path) value = (value as Json)[name] ?? notFound(name);
  return value as Json;
}

/** The nodes of a Relay connection. */
export function nodesAt(connection: Json): Json[] {
  return (connection['edges'] as readonly { readonly node: Json }[]).map((edge) => edge.node);
}

/** The members that have a value, so that a variable which the caller left out is left to the domain's default. */
export function given(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** The members that a schema declares, in its order; what the graph did not give is left out, never made up. */
export function inOrder(schema: z.ZodObject, values: Json): Json {
  return Object.fromEntries(
    Object.keys(schema.shape)
      .filter((name) => values[name] !== undefined)
      .map((name) => [name, values[name]]),
  );
}

function notFound(name: string): never {
  throw new ProblemError('resource_not_found', `There is no such ${name.replaceAll('_', ' ')}, or it is not yours.`);
}
