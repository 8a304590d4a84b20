import fc from 'fast-check';
import { buildSchema, GraphQLError, GraphQLScalarType, parse, type OperationDefinitionNode } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { assertFittingVariables } from '../../gateway/operation-variables.ts';
import { ProblemError, type ProblemWire } from '../../schema/problems.ts';

const SCHEMA = buildSchema(`
  type Query { search(input: SearchInput!, filter: Filter, names: [String!], limit: Int = 5, even: Even): Int }
  input SearchInput {
    dataSourceId: ID!, dateRange: [Float!]!, model: Model = CAUSAL, options: Options, tags: [[String]]
  }
  input Options { markovOrder: Int!, isOn: Boolean }
  input Filter { createdAfter: String }
  enum Model { CAUSAL MARKOV }
  scalar Even
`);
let parsed = 0;
(SCHEMA.getType('Even') as GraphQLScalarType).parseValue = (value) => {
  parsed += 1;
  if (typeof value === 'number' && value % 2 === 0) return value;
  throw new GraphQLError(`${String(value)} is odd`);
};

const operationOf = (declarations: string) =>
  parse(`query (${declarations}) { __typename }`).definitions[0] as OperationDefinitionNode;
const problemOf = (
  declarations: string,
  variables: Record<string, unknown>,
): (ProblemWire & { message: string }) | null => {
  try {
    assertFittingVariables(SCHEMA, operationOf(declarations), variables);
    return null;
  } catch (error) {
    if (error instanceof ProblemError) return { ...error.problem, message: error.message };
    throw error;
  }
};

describe('variables that do not fit', () => {
  test('are all told, each by its pointer in the words of REST', () => {
    const input = {
      dateRange: [1, 'x', null],
      model: 'DREAM',
      options: { markovOrder: 1.5, isOn: 1 },
      tags: [['a', 7]],
      dataSuorceId: 'ds_1',
    };
    expect(problemOf('$input: SearchInput!', { input })).toEqual({
      type: 'validation_error',
      status: 422,
      message: 'data_source_id: is required',
      code: 'required',
      param: '/data_source_id',
      errors: [
        { param: '/data_source_id', code: 'required', message: 'is required' },
        { param: '/date_range/1', code: 'invalid_value', message: 'must be a number' },
        { param: '/date_range/2', code: 'required', message: 'must not be null' },
        { param: '/model', code: 'invalid_value', message: 'must be one of CAUSAL, MARKOV' },
        {
          param: '/options/markov_order',
          code: 'invalid_value',
          message: expect.stringMatching(/^must be a whole number/) as string,
        },
        { param: '/options/is_on', code: 'invalid_value', message: 'must be true or false' },
        { param: '/tags/0/1', code: 'invalid_value', message: 'must be a string' },
        { param: '/data_suorce_id', code: 'unknown_member', message: 'is not known here; did you mean dataSourceId?' },
      ],
    });
  });

  test.each([
    ['$search: SearchInput!', {}, '/search', 'is required'],
    ['$search: SearchInput!', { search: null }, '/search', 'must not be null'],
    ['$search: SearchInput!', { search: 'text' }, '/search', 'must be an object'],
    ['$search: SearchInput!', { search: [] }, '', 'must be an object'],
    ['$firstNames: [String!]', { firstNames: ['a', 7] }, '/first_names/1', 'must be a string'],
    ['$limit: Int', { limit: 2 ** 31 }, '/limit', 'must be a whole number between -2147483648 and 2147483647'],
    ['$even: Even', { even: 'my secret' }, '/even', 'must be a Even'],
  ])('%s with %j names %s', (declarations, variables, param, message) => {
    const problem = problemOf(declarations, variables);
    expect(problem).toMatchObject({ param, errors: [{ param, message }] });
    expect(JSON.stringify(problem)).not.toContain('secret');
  });

  test('are not looked for any further once enough are found', () => {
    parsed = 0;
    expect(problemOf('$even: [Even]', { even: Array(100_000).fill(1) })?.errors).toHaveLength(20);
    expect(parsed).toBe(20);
  });

  test('are those that graphql-js refuses', () => {
    const leaf = fc.oneof(fc.constantFrom(null, '', 'CAUSAL', 'toString', true, 2, 3, 1.5, 2 ** 40), fc.constant([]));
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(
            'dataSourceId',
            'dateRange',
            'model',
            'options',
            'tags',
            'markovOrder',
            'isOn',
            'createdAfter',
            'more',
          ),
          tie('any'),
        ),
      ),
    })).any;
    const fit = fc.record(
      {
        dataSourceId: fc.constantFrom('a', 1),
        dateRange: fc.constantFrom([], [1, 2], 3),
        model: fc.constantFrom('CAUSAL', null),
        options: fc.oneof(fc.constant(null), fc.record({ markovOrder: fc.constantFrom(1, 1.5), isOn: leaf })),
      },
      { requiredKeys: ['dataSourceId', 'dateRange'] },
    );
    const declarations = fc.constantFrom(
      '$v: SearchInput!',
      '$v: SearchInput',
      '$v: [SearchInput!]',
      '$v: Filter',
      '$v: [String!]',
      '$v: Int = 5',
      '$v: [[Even]!]',
      '$v: Int! = 5',
      '$v: ID!',
      '$v: Model',
      '$v: Boolean',
    );
    let fits = 0;
    fc.assert(
      fc.property(declarations, fc.oneof(value, fit), (declared, v) => {
        const refused =
          getVariableValues(SCHEMA, operationOf(declared).variableDefinitions ?? [], { v }).errors !== undefined;
        fits += refused ? 0 : 1;
        expect(problemOf(declared, { v }) !== null).toBe(refused);
      }),
      { numRuns: 2_000 },
    );
    expect(fits).toBeGreaterThan(100);
  });
});
