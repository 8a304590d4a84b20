import { getIntrospectionQuery, GraphQLError } from 'graphql';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DocumentShapes } from '../../gateway/document-shape.ts';
import { DEFAULT_LIMITS } from '../../gateway/operation-limits.ts';
import type { ProblemError } from '../../schema/problems.ts';

const shapes = new DocumentShapes(DEFAULT_LIMITS);
const codeOf = (source: string): string | undefined => {
  try {
    shapes.assertFitting(source);
    return undefined;
  } catch (error) {
    return (error as ProblemError).problem.code;
  }
};
const times = (count: number, of: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => of(place)).join(' ');

test('what doors and tools ask for fits', () => {
  const folder = join(import.meta.dirname, '../../schema/operations');
  for (const file of readdirSync(folder)) expect(codeOf(readFileSync(join(folder, file), 'utf8'))).toBeUndefined();
  expect(
    codeOf(
      getIntrospectionQuery({
        descriptions: true,
        inputValueDeprecation: true,
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
      }),
    ),
  ).toBeUndefined();
  // Federation plans nothing that has it.
  expect(codeOf(getIntrospectionQuery({ oneOf: true }))).toBe('invalid_document');
});

test.each([
  ['beside each other', `{ ${times(11, () => 'me { id }')} }`],
  ['below', `{ me { ${times(11, () => 'agent { id }')} } }`],
  [
    'by fragments',
    `{ ${times(11, (place) => `...F${place}`)} } ${times(11, (place) => `fragment F${place} on Query { me { id } }`)}`,
  ],
  ['by one fragment', `{ ${times(6, () => '...F')} } fragment F on Query { me { id } me { id } }`],
  ['under an alias', `{ ${times(11, () => 'a: me { id }')} }`],
  ['in a fragment that nothing spreads', `{ me { id } } fragment F on Query { ${times(11, () => 'me { id }')} }`],
])('one name too often is refused: %s', (_where, source) => {
  expect(codeOf(source)).toBe('too_many_repeats');
});

test('fragments that multiply are too many selections, and those inside themselves are left to validation', () => {
  const doubling = times(
    20,
    (place) => `fragment F${place} on Query { ${place === 0 ? 'me { id }' : `...F${place - 1} ...F${place - 1}`} }`,
  );
  expect(codeOf(`{ ...F19 } ${doubling}`)).toBe('too_many_selections');
  expect(codeOf('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }')).toBeUndefined();
});

test('more conditions than planning bears are refused', () => {
  const conditions = (count: number) =>
    `query (${times(count, (place) => `$v${place}: Boolean!`)}) { ` +
    `${times(count, (place) => `f${place}: me @include(if: $v${place}) { id }`)} }`;
  expect(codeOf(conditions(DEFAULT_LIMITS.maxConditions))).toBeUndefined();
  expect(codeOf(conditions(DEFAULT_LIMITS.maxConditions + 1))).toBe('too_many_conditions');
});

test('what is no GraphQL, or too long, is said by the parser', () => {
  expect(() => shapes.assertFitting('{ me')).toThrow(GraphQLError);
  expect(() => shapes.assertFitting(`{ ${times(3_000, (place) => `f${place}`)} }`)).toThrow(/token/i);
});

test('what the parser keeps and does not count as tokens has bounds of its own', () => {
  expect(codeOf(`{ __typename }${' ,'.repeat(40_000)}`)).toBe('too_long');
  expect(() => shapes.assertFitting(`${'#\n'.repeat(501)}{ __typename }`)).toThrow('more than 500 comments');
  expect(codeOf(`${'# A line of a comment.\n'.repeat(500)}{ __typename }`)).toBeUndefined();
});
