/**
 * Operations that ask for far more than they look like, each in its own way. Written against the service's own schema.
 */
export interface Bomb {
  readonly name: string;
  /** The whole JSON body of the request. */
  readonly body: string;
  /** Also sent over WebSocket: what is not a single operation cannot be. */
  readonly isOperation: boolean;
}

const times = (count: number, part: (index: number) => string, separator = ' '): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(separator);
const operation = (name: string, query: string, variables: Record<string, unknown> = {}): Bomb => ({
  name,
  body: JSON.stringify({ query, variables }),
  isOperation: true,
});
const page = (first: number | string, inside: string) =>
  `attributions(first: ${first}) { edges { node { ${inside} } } }`;

/** Each fragment spreads the next twice: 2^n fields from n lines. */
const doubling = (count: number, type: string, leaf: string) =>
  `${times(count, (index) => `fragment F${index} on ${type} { ...F${index + 1} ...F${index + 1} }`)} fragment ` +
  `F${count} on ${type} { ${leaf} }`;

export const BOMBS: readonly Bomb[] = [
  operation('aliases', `{ ${times(500, (index) => `a${index}: me { id }`)} }`),
  operation('aliases below the root', `{ me { ${times(600, (index) => `a${index}: id`)} } }`),
  operation('root fields', `{ ${times(11, (index) => `r${index}: __typename`)} }`),
  operation('fields without end', `{ me { ${'id '.repeat(100_000)} } }`),
  operation(
    'depth by introspection',
    `{ __schema { types { ${'ofType: fields { type { '.repeat(40)} name ${'} }'.repeat(40)} } } }`,
  ),
  operation(
    'introspection, wide and deep',
    `{ __schema { types { fields { type { fields { type { fields { type { fields { type { fields { name } } } } } } ` +
      `} } } } } }`,
  ),
  operation('braces', `${'{ me '.repeat(900)}${'}'.repeat(900)}`),
  operation('brackets', `query ($x: ${'['.repeat(900)}ID${']'.repeat(900)}) { me { id } }`),
  operation('lists in lists', `{ attribution(id: ${'['.repeat(900)}${']'.repeat(900)}) { id } }`),
  operation('objects in objects', `{ attributions(filter: ${'{a: '.repeat(450)}1${'}'.repeat(450)}) { totalCount } }`),
  operation('doubling fragments', `{ me { ...F0 } } ${doubling(60, 'Agent', 'id')}`),
  operation('doubling fragments on the root', `{ ...F0 } ${doubling(60, 'Query', '__typename')}`),
  operation('doubling inline fragments', `{ me { ${'... { '.repeat(300)} id ${'}'.repeat(300)} } }`),
  operation('fragments in a circle', '{ me { ...A } } fragment A on Agent { ...B } fragment B on Agent { ...A }'),
  operation(
    'overlapping fields',
    `{ me { ${times(300, (index) => `...G${index}`)} } } ` +
      `${times(
        120,
        (index) =>
          `fragment G${index} on Agent { x: ${index % 2 === 0 ? 'id' : 'name'} rateLimits { requestsPerMinute } }`,
      )}`,
  ),
  operation('the same field with other arguments', `{ ${times(250, (index) => `attribution(id: ${index}) { id }`)} }`),
  operation(
    'pages of pages',
    `{ ${page(
      100,
      'id trust { components { detection { score } attribution { score } provenance { score } ' +
        'consistency { score } taxonomy { score } } verification { claimsTotal } metadata { hreiVersion } } ' +
        'channelImpact { ' +
        'confidenceInterval { lower } } failure { code } campaigns { channel } diagnostics { stitching { pairs } }',
    )} dataSources(first: 100) { edges { node { id trust { components { detection { score } } } ` +
      'detail { coverage { earliest } } } } } }',
  ),
  operation('a page by a variable', `query ($n: Int) { ${page('$n', 'id')} }`, { n: 2_000_000_000 }),
  operation(
    'a page that is no number',
    `query ($n: Int) { ${page('$n', 'id trust { hreiScore }')} again: ${page('$n', 'id trust { hreiScore }')} third: ` +
      `${page('$n', 'id trust { hreiScore }')} }`,
    { n: '1e9' },
  ),
  operation('directives', `{ me { id ${'@include(if: true) '.repeat(400)} } }`),
  operation('directives nobody knows', `query ${times(400, (index) => `@d${index}`)} { me { id } }`),
  operation(
    'conditions for the planner',
    `query (${times(120, (index) => `$c${index}: Boolean!`, ', ')}) { me { ` +
      `${times(
        120,
        (index) => `... @include(if: $c${index}) { id rateLimits @skip(if: $c${(index * 7) % 120}) { dailyLimit } }`,
      )} } attribution(id: "x") { ${times(20, (index) => `... @include(if: $c${index}) { id }`)} } }`,
    Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`c${index}`, true])),
  ),
  operation(
    'conditions that double',
    `query (${times(8, (index) => `$c${index}: Boolean!`, ', ')}) { ${page(1, '...F0')} } ` +
      `${times(
        8,
        (index) =>
          `fragment F${index} on Attribution { ... @include(if: $c${index}) { platformFeeCents ` +
          `...F${index + 1} } ... @skip(if: $c${index}) { deltaRCents ...F${index + 1} } }`,
      )} fragment F8 on Attribution { agent { name totalDeltaRCents } }`,
    Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`c${index}`, true])),
  ),
  operation(
    'the whole schema, ten times',
    `{ ${times(
      10,
      (index) =>
        `s${index}: __schema { types { name description fields { name description args { name ` +
        `description type { name } } } } }`,
    )} }`,
  ),
  operation('variables by the thousand', `query (${times(600, (index) => `$v${index}: ID`, ', ')}) { me { id } }`),
  operation('variables, wide', 'query ($x: JSON) { me { id } }', { x: Array.from({ length: 100_000 }, () => [1]) }),
  operation('members that nobody knows', 'query ($f: AttributionFilter) { attributions(filter: $f) { totalCount } }', {
    f: Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`createdAfte${index}`, 1])),
  }),
  operation('variables, deep', 'query ($f: AttributionFilter) { attributions(filter: $f) { totalCount } }', {
    f: JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) as unknown,
  }),
  operation(
    'operations by the hundred',
    times(300, (index) => `query Q${index} { me { id } }`),
  ),
  operation('names that are nearly right', `{ me { ${times(600, (index) => `idd${index}`)} } }`),
  operation('a long text', `{ attribution(id: "${'x'.repeat(500_000)}") { nothing } }`),
  operation('a comment', `#${'x'.repeat(900_000)}\n{ nothing }`),
  {
    name: 'a batch',
    body: JSON.stringify(Array.from({ length: 1_000 }, () => ({ query: '{ me { id } }' }))),
    isOperation: false,
  },
  {
    name: 'deep JSON',
    body: `{"query":"{ me { id } }","variables":{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
    isOperation: false,
  },
  {
    name: 'a body of two mebibytes',
    body: JSON.stringify({ query: '{ me { id } }', variables: { x: 'x'.repeat(2 * 1024 * 1024) } }),
    isOperation: false,
  },
];
