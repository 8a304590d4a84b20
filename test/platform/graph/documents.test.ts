import { buildSchema } from 'graphql';
import { Documents } from '../../../platform/graph/documents.ts';

const schema = buildSchema('type Query { a: Int b: Int } type Subscription { a: Int }');

function documentOf(documents: Documents, source: string): object {
  const checked = documents.check(source);
  if (!('document' in checked)) throw new Error('invalid');
  return checked.document;
}

describe('documents', () => {
  test('are parsed and validated once, as long as they are in use', () => {
    const documents = new Documents(schema);
    const first = documentOf(documents, '{ a }');
    const second = documentOf(documents, '{ b }');
    for (let other = 0; other < 30; other += 1) {
      expect(documentOf(documents, '{ a }')).toBe(first);
      documentOf(documents, `{ a b }${' '.repeat(19_000)}#${other}`);
    }
    expect(documentOf(documents, '{ b }')).not.toBe(second);
  });

  test('of great length are not kept', () => {
    const documents = new Documents(schema);
    const source = `{ a } ${' '.repeat(30_000)}`;
    expect(documentOf(documents, source)).not.toBe(documentOf(documents, source));
  });

  test.each(['{ c }', 'subscription ($on: Boolean!) { a @include(if: $on) }'])(
    '%s is not valid, and no exception',
    (source) => {
      expect(new Documents(schema).check(source)).toMatchObject({
        errors: [expect.objectContaining({ message: expect.any(String) })],
      });
    },
  );

  test.each([
    ['{ a', {}],
    ['{ a b a b }', { maxTokens: 4 }],
    ['#\n#\n#\n{ a }', { maxComments: 2 }],
  ])('%s with %j does not parse', (source, options) => {
    expect(() => new Documents(schema, options).check(source)).toThrow(/Syntax Error/);
  });
});
