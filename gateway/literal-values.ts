import {
  Kind,
  TypeInfo,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import { ProblemError } from '../schema/problems.ts';
import { withoutValue } from '../platform/graph/bad-values.ts';
import { LITERAL_KINDS } from '../platform/graph/crossing-errors.ts';
import { refusalOf, type GivenValue } from './operation-variables.ts';

/**
 * The problem of a document in which nothing is wrong but values: it is well formed, and refused as if they were given
 * by variables. Undefined where anything else is wrong, too.
 * @param errors of the document's validation, at least one
 */
export function unfitValuesIn(
  schema: GraphQLSchema,
  document: DocumentNode,
  errors: readonly GraphQLError[],
  variables: Readonly<Record<string, unknown>>,
): ProblemError | undefined {
  const areLiterals = errors.every(({ nodes }) => nodes?.length === 1 && isLiteral(nodes[0]!.kind));
  if (!areLiterals) return undefined;
  return (
    refusalOf(literalsIn(schema, document, variables)) ??
    // A text in place of an enum's name, which is the same value once it is read.
    new ProblemError('validation_error', withoutValue(errors[0]!.message), { code: 'invalid_value' })
  );
}

function isLiteral(kind: string): boolean {
  return LITERAL_KINDS.has(kind) || kind === Kind.OBJECT_FIELD;
}

function literalsIn(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): readonly GivenValue[] {
  const found: GivenValue[] = [];
  const info = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(info, {
    Argument({ name, value }) {
      const type = info.getInputType();
      const isVariable = value.kind === Kind.VARIABLE;
      if (type != null && !isVariable)
        found.push({ name: name.value, value: valueFromASTUntyped(value, variables), type });
      return false;
    },
  });
  visit(document, visitor);
  return found;
}
