import * as fc from 'fast-check';
import { buildSchema, parse, validate, type OperationDefinitionNode } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { withoutValue } from '../../../platform/graph/bad-values.ts';
import { threadTimeMs } from '../../thread-time.ts';

const schema = buildSchema(`
  enum Colour { RED GREEN }
  input Paint { colour: Colour! layers: Int = 1 name: String inner: Paint tags: [ID!] }
  type Query { wall(paint: Paint, colour: Colour, id: ID, count: Int, price: Float, on: Boolean, text: String): Int }
`);
const SECRET = 'SENTINELsecret7';

/** What graphql-js says of a variable's value. */
function saidOf(type: string, value: unknown): string[] {
  const [operation] = parse(`query ($v: ${type}) { wall }`).definitions as [OperationDefinitionNode];
  const { errors } = getVariableValues(schema, operation.variableDefinitions!, { v: value });
  return (errors ?? []).map(({ message }) => message);
}

/** What it says of a literal. */
const saidOfLiteral = (argument: string): string[] =>
  validate(schema, parse(`{ wall(${argument}) }`)).map(({ message }) => message);

test('no value of a variable is repeated, whatever is wrong with it', () => {
  const anything = fc.oneof(
    fc.constant(SECRET),
    fc.constant([SECRET]),
    fc.constant({ password: SECRET }),
    fc.constant({ colour: SECRET, layers: SECRET }),
    fc.constant({ colour: 'RED', inner: { colour: [SECRET] } }),
    fc.constant({ colour: 'RED', tags: [[SECRET]] }),
    fc.jsonValue().map((value) => ({ kept: value, secret: SECRET })),
  );
  let heard = 0;
  fc.assert(
    fc.property(
      fc.constantFrom('Paint', 'Paint!', 'Colour', 'ID', 'Int', 'Float', 'Boolean', 'String', '[Int!]', '[Paint]'),
      anything,
      (type, value) => {
        for (const message of saidOf(type, value)) {
          heard += 1;
          expect(withoutValue(message)).not.toContain('SENTINEL');
          expect(withoutValue(message)).toMatch(/^Variable "\$v"/);
        }
      },
    ),
  );
  expect(heard).toBeGreaterThan(50);
});

test.each([
  'id: {a: "SENTINELsecret7"}',
  'count: "SENTINELsecret7"',
  'price: "SENTINELsecret7"',
  'on: "SENTINELsecret7"',
  'text: ["SENTINELsecret7"]',
  'colour: SENTINELsecret7',
  'colour: "SENTINELsecret7"',
  'paint: "SENTINELsecret7"',
  'paint: {colour: "SENTINELsecret7"}',
])('no literal is repeated: %s', (argument) => {
  const said = saidOfLiteral(argument);
  expect(said).not.toEqual([]);
  for (const message of said) expect(withoutValue(message)).not.toContain('SENTINEL');
});

test.each([
  ['{ wall(text: "SENTINELsecret7" "SENTINELsecret7") }'],
  ['{ wall(text: 1 """SENTINELsecret7""") }'],
  ['{ "SENTINELsecret7" }'],
])('no text of a document that does not parse is repeated: %s', (source) => {
  expect(() => parse(source)).toThrow();
  try {
    parse(source);
  } catch (error) {
    expect(withoutValue((error as Error).message)).toBe(
      'Syntax Error: Expected Name, found String.'.replace('String', source.includes('"""') ? 'BlockString' : 'String'),
    );
  }
});

test('what helps stays', () => {
  expect(saidOf('Paint', { layers: 'x' }).map(withoutValue)).toEqual([
    'Variable "$v" got an unfit value; Field "colour" of required type "Colour!" was not provided.',
    'Variable "$v" got an unfit value at "v.layers"; Int cannot represent non-integer value.',
  ]);
  expect(saidOf('Paint', { colour: 'RED', strange: 1 }).map(withoutValue)).toEqual([
    'Variable "$v" got an unfit value; Field "strange" is not defined by type "Paint".',
  ]);
  expect(saidOf('Int!', null).map(withoutValue)).toEqual(['Variable "$v" of non-null type "Int!" must not be null.']);
  expect(saidOf('Colour', 'BLUE').map(withoutValue)).toEqual([
    'Variable "$v" got an unfit value; The value does not exist in "Colour" enum.',
  ]);
  expect(validate(schema, parse('{ nothing }')).map(({ message }) => withoutValue(message))).toEqual([
    'Cannot query field "nothing" on type "Query".',
  ]);
});

test.each([
  '; Value "',
  ' got invalid value ',
  'Expected type ',
  'found String "',
  ' cannot represent ',
  ' at "a',
  '; A ',
])('a value of a megabyte of %s is struck out, or left, in one pass', (phrase) => {
  const value = phrase.repeat(1_000_000 / phrase.length);
  const startedMs = threadTimeMs();
  for (const message of [value, `Variable "$v" got invalid value "${value}"; Int cannot represent it: "${value}"`])
    expect(withoutValue(message).length).toBeLessThanOrEqual(message.length);
  expect(threadTimeMs() - startedMs).toBeLessThan(1_000);
});
