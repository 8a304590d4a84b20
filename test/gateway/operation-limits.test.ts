import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Supergraph } from '@apollo/federation-internals';
import { createClient } from 'graphql-ws';
import { buildSchema, getIntrospectionQuery, parse, type OperationDefinitionNode } from 'graphql';
import { WebSocket } from 'ws';
import { loadNamedDocuments } from '../../gateway/named-documents.ts';
import {
  assertWithinLimits,
  DEFAULT_LIMITS,
  measureOperation,
  type OperationSize,
} from '../../gateway/operation-limits.ts';
import { composeSupergraph } from '../../gateway/supergraph.ts';
import { post, startToyGateway, type ToyGateway } from './toy-gateway.ts';

const schema = buildSchema(`
  type Query { node: Node!, nodes(first: Int, last: Int): Connection!, list(first: Int): [Node!]! }
  type Connection { edges: [Edge!]!, trust: Trust!, totalCount: Int! }
  type Edge { node: Node! }
  type Trust { parts: Part! }
  type Part { score: Float! }
  type Node { id: ID!, name: String, child: Node, nodes(first: Int, last: Int): Connection! }
`);

function sizeOf(source: string, variables: Record<string, unknown> = {}): OperationSize {
  const document = parse(source);
  return measureOperation(schema, document, document.definitions[0] as OperationDefinitionNode, variables);
}

describe('the size of an operation', () => {
  test('depth counts fields inside one another, through fragments', () => {
    expect(sizeOf('{ node { id } }').depth).toBe(2);
    expect(sizeOf('{ node { ...A ... on Node { id } } } fragment A on Node { child { child { id } } }').depth).toBe(4);
  });

  test('nesting counts fragments too, where depth does not', () => {
    expect(sizeOf('{ node { ... { ... { ...A } } } } fragment A on Node { ... { id } }')).toMatchObject({
      depth: 2,
      nesting: 5,
    });
    expect(sizeOf('{ node { id } }').nesting).toBe(1);
  });

  test('aliases, root fields and selections count as often as they are spread', () => {
    expect(sizeOf('{ a: node { ...A } b: node { ...A } } fragment A on Node { x: id y: name }')).toMatchObject({
      aliases: 6,
      rootFields: 2,
      selections: 6,
    });
    expect(sizeOf('{ ...R ...R } fragment R on Query { node { id } list { id } }')).toMatchObject({ rootFields: 4 });
  });

  test('conditions count as often as they are spread, wherever they stand', () => {
    expect(
      sizeOf(
        'query ($a: Boolean!) { node @include(if: $a) { ...A ... @skip(if: $a) { ...A @include(if: $a) } } } ' +
          'fragment A on Node { id @skip(if: $a) name }',
      ).conditions,
    ).toBe(5);
    expect(sizeOf('{ __schema { types { name @include(if: true) } } }').conditions).toBe(1);
  });

  test('what variables leave out costs nothing', () => {
    const query =
      'query ($with: Boolean = false, $without: Boolean) { node { id child @include(if: $with) { child { id } } ' +
      'nodes(first: 9) @skip(if: $without) { edges { node { id } } } } }';
    expect(sizeOf(query, { without: true }).cost).toBe(1);
    expect(sizeOf(query, { with: true, without: true }).cost).toBe(3);
    expect(sizeOf(query, { without: false }).cost).toBe(1 + 1 + 9);
    expect(sizeOf('{ node { ... @include(if: false) { child { id } } } }').cost).toBe(1);
    expect(sizeOf(query, { without: true })).toMatchObject({ depth: 5, selections: 9, conditions: 2 });
  });

  test('cost counts objects, leaves are free', () => {
    expect(sizeOf('{ node { id name child { id } } }').cost).toBe(2);
  });

  test('a page multiplies its rows, and not what stands beside them', () => {
    // node for each of 50, trust and parts once, the connection itself once
    expect(sizeOf('{ nodes(first: 50) { edges { node { id } } trust { parts { score } } totalCount } }').cost).toBe(
      50 + 2 + 1,
    );
    expect(sizeOf('{ list(first: 7) { id child { id } } }').cost).toBe(7 * 2);
  });

  test('pages inside pages multiply', () => {
    expect(sizeOf('{ nodes(first: 10) { edges { node { nodes(first: 5) { edges { node { id } } } } } } }').cost).toBe(
      1 + 10 * (1 + (1 + 5)),
    );
  });

  test.each([
    ['{ nodes { edges { node { id } } } }', {}, 20],
    ['{ nodes(last: 3) { edges { node { id } } } }', {}, 3],
    ['query ($n: Int) { nodes(first: $n) { edges { node { id } } } }', { n: 6 }, 6],
    ['query ($n: Int = 4) { nodes(first: $n) { edges { node { id } } } }', {}, 4],
    ['query ($n: Int) { nodes(first: $n) { edges { node { id } } } }', {}, 20],
    ['query ($n: Int) { nodes(first: $n) { edges { node { id } } } }', { n: 'many' }, 100],
    ['query ($n: Int) { nodes(first: $n) { edges { node { id } } } }', { n: -5 }, 1],
    ['query ($n: Int) { nodes(first: null, last: $n) { edges { node { id } } } }', { n: 8 }, 8],
  ])('%s with %j has %i rows', (source, variables, rows) => {
    expect(sizeOf(source, variables).cost).toBe(1 + rows);
  });

  test('fragments that double 60 times are measured in no time', () => {
    const fragments = Array.from(
      { length: 60 },
      (_, index) => `fragment F${index} on Node { ...F${index + 1} ...F${index + 1} }`,
    ).join(' ');
    expect(sizeOf(`{ node { ...F0 } } ${fragments} fragment F60 on Node { id }`).selections).toBe(2 ** 60 + 1);
  });

  test('the standard introspection is within the limits', () => {
    const { cost, depth, nesting, selections } = sizeOf(
      getIntrospectionQuery({
        descriptions: true,
        directiveIsRepeatable: true,
        inputValueDeprecation: true,
        oneOf: true,
        schemaDescription: true,
        specifiedByUrl: true,
      }),
    );
    expect(cost).toBeLessThan(DEFAULT_LIMITS.maxCost);
    expect(depth).toBeLessThan(DEFAULT_LIMITS.maxDepth);
    expect(nesting).toBeLessThan(DEFAULT_LIMITS.maxNesting);
    expect(selections).toBeLessThan(DEFAULT_LIMITS.maxSelections);
  });
});

describe('the service’s own named documents', () => {
  const root = join(import.meta.dirname, '../../schema');
  const supergraphSdl = composeSupergraph(
    readdirSync(join(root, 'subgraphs')).map((file) => ({
      name: basename(file, '.graphql'),
      url: 'http://subgraph.invalid/',
      sdl: readFileSync(join(root, 'subgraphs', file), 'utf8'),
    })),
  );
  const graph = Supergraph.build(supergraphSdl).apiSchema().toGraphQLJSSchema();
  const documents = [...loadNamedDocuments(join(root, 'operations'), graph).values()];

  test.each(documents.map(({ name, document, text }) => [name, document, text] as const))(
    '%s may be said by strangers too, with the largest page',
    (_name, document, text) => {
      expect(() => parse(text, { maxTokens: DEFAULT_LIMITS.maxTokens })).not.toThrow();
      expect(() =>
        assertWithinLimits(
          graph,
          document,
          document.definitions[0] as OperationDefinitionNode,
          { first: 100 },
          DEFAULT_LIMITS,
        ),
      ).not.toThrow();
    },
  );
});

describe('operations of strangers beyond the limits', () => {
  let toy: ToyGateway;
  beforeAll(async () => {
    toy = await startToyGateway('in process');
  });
  afterAll(() => toy.close());

  const bookFields = (count: number, field: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => field(index)).join(' ');
  const bombs: readonly (readonly [string, string, string, Record<string, unknown>])[] = [
    ['too long', 'syntax', `{ book(id: "b1") { ${'title '.repeat(3000)} } }`, {}],
    ['made of blanks', 'too_long', `{ caller${' ,'.repeat(40_000)} }`, {}],
    ['made of comments', 'syntax', `${'#\n'.repeat(600)}{ caller }`, {}],
    ['too wide at the root', 'too_many_root_fields', `{ ${bookFields(11, (index) => `f${index}: caller`)} }`, {}],
    [
      'full of aliases',
      'too_many_aliases',
      `{ book(id: "b1") { ${bookFields(16, (index) => `f${index}: title`)} } }`,
      {},
    ],
    [
      'too costly',
      'too_costly',
      '{ books(first: 100) { edges { node { author { id } trust { components { detection { score } attribution { ' +
        'score } provenance { score } consistency { score } taxonomy { score } } verification { claimsTotal } ' +
        'metadata { hreiVersion } } } } } pageOf2: books(first: 100) { edges { node { author { id } trust { ' +
        'components { detection { score } attribution { score } provenance { score } consistency { score } ' +
        'taxonomy { score } } verification { claimsTotal } metadata { hreiVersion } } } } } }',
      {},
    ],
    [
      'too costly by a variable',
      'too_costly',
      'query ($first: Int!) { books(first: $first) { edges { node { id } } } }',
      { first: 3000 },
    ],
    [
      'asking for the schema again and again',
      'too_much_of_the_schema',
      `{ ${bookFields(5, (index) => `f${index}: __schema { types { fields { type { fields { name } } } } }`)} }`,
      {},
    ],
    [
      'asking for lists of the schema under many names',
      'too_many_aliases',
      `{ __schema { ${bookFields(16, (index) => `f${index}: types { name }`)} } }`,
      {},
    ],
    [
      'full of conditions',
      'too_many_conditions',
      `query ($on: Boolean!) { book(id: "b1") { ...F0 } } ` +
        `${bookFields(
          5,
          (index) =>
            `fragment F${index} on Book { ... @include(if: $on) { title ...F${index + 1} } ... ` +
            `@skip(if: $on) { priceCents ...F${index + 1} } }`,
        )} fragment F5 on Book { author { id } }`,
      { on: true },
    ],
    [
      'doubling its fragments',
      'too_many_selections',
      `{ ...F0 } ${bookFields(
        30,
        (index) => `fragment F${index} on Query { __typename ...F${index + 1} ...F${index + 1} }`,
      )} fragment F30 on Query { caller }`,
      {},
    ],
  ];

  test.each(bombs)('%s are refused over HTTP', async (_what, reason, query, variables) => {
    const answer = await post(toy.url, { query, variables }, { headers: { authorization: 'Bearer good' } });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'INVALID_REQUEST' } }] } });
    expect([reason, 'too_many_root_fields']).toContain(answer.body.errors?.[0]?.extensions['reason']);
  });

  test.each(bombs)('%s are refused over WebSocket, and the socket stays', async (_what, _reason, query, variables) => {
    const client = createClient({
      url: toy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      lazyCloseTimeout: 1_000,
    });
    await expect(client.iterate({ query, variables }).next()).rejects.toMatchObject([
      { extensions: { code: 'INVALID_REQUEST', http_status: 400 } },
    ]);
    expect((await client.iterate({ query: '{ book(id: "b1") { id } }' }).next()).value).not.toHaveProperty('errors');
    await client.dispose();
  });

  test.each([
    [
      'too_many_aliases',
      `subscription { bookSold(shop: "x") { ${bookFields(16, (index) => `f${index}: sequence`)} } }`,
    ],
    ['syntax', `subscription { bookSold(shop: "x") { ${'sequence '.repeat(3000)} } }`],
    ['syntax', 'subscription { bookSold('],
    ['invalid_document', 'subscription { bookSold(shop: "x") { nothing } }'],
    ['invalid_document', 'subscription ($on: Boolean!) { bookSold(shop: "x") @include(if: $on) { sequence } }'],
    [
      'unknown_operation',
      'subscription A { bookSold(shop: "x") { sequence } } subscription B { bookSold(shop: "x") { sequence } }',
    ],
  ])('a subscription is refused: %s', async (reason, query) => {
    const client = createClient({
      url: toy.url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization: 'Bearer good' },
    });
    await expect(client.iterate({ query, variables: { on: true } }).next()).rejects.toMatchObject([
      { extensions: { code: 'INVALID_REQUEST', reason } },
    ]);
    expect(toy.events.open).toBe(0);
    await client.dispose();
  });

  test('the depth limit applies', async () => {
    const shallow = await startToyGateway('in process', { limits: { ...DEFAULT_LIMITS, maxDepth: 2 } });
    expect(
      (await post(shallow.url, { query: '{ book(id: "b1") { author { id } } }' })).body.errors?.[0]?.extensions[
        'reason'
      ],
    ).toBe('too_deep');
    expect((await post(shallow.url, { query: getIntrospectionQuery() })).status).toBe(200);
    await shallow.close();
  });
});
