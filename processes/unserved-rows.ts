import { buildSchema } from 'graphql';
import { isMutation, type Noun } from '../schema/contract/noun.ts';
import type { Operation } from '../rest-adapter/operation.ts';

/**
 * Rows of the contract that a door lacks, each with what to do about it. A noun that stands in the contract alone would
 * lose silently what is printed of it.
 */
export function unservedRows(
  nouns: readonly Noun[],
  apiSchema: string,
  operations: readonly Pick<Operation, 'method' | 'path'>[],
): readonly string[] {
  const schema = buildSchema(apiSchema, { assumeValidSDL: true });
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() };
  const served = new Set(operations.map(({ method, path }) => `${method} ${path}`));
  return nouns.flatMap(({ many, operations: rows }) => {
    const hasResolver = Object.entries(rows).some(([name, { field = name }]) => field in fields);
    return Object.entries(rows).flatMap(([name, row]) => {
      const { method, path, field = name } = row;
      const missing = hasResolver
        ? `Give its resolver a method with @${isMutation(row) ? 'Mutation' : 'Query'}('${name}').`
        : 'Register its resolver in the subgraph.ts of its owner.';
      return [
        ...(field in fields ? [] : [`${many}: nothing serves ${field}. ${missing}`]),
        ...(served.has(`${method} ${path}`)
          ? []
          : [`${many}: REST has no ${method} ${path}. Name the noun in rest-adapter/operations.`]),
      ];
    });
  });
}
