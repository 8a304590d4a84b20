import { Supergraph } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import { parse } from 'graphql';
import { plannerBy } from '../../gateway/planner.ts';
import { soleOwners } from '../../gateway/sole-owners.ts';
import { composeSupergraph } from '../../gateway/supergraph.ts';
import type { RequestContext } from '../../schema/principal.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])';
const books =
  `${LINK} type Query { book(id: ID!): Book shelf(id: ID!): Shelf } type Book @key(fields: "id") { id: ` +
  `ID! title: String! } type Shelf { books: [Book!]! }`;
const ratings = `${LINK} type Query { best: Book } type Book @key(fields: "id") { id: ID! stars: Int }`;
const supergraph = composeSupergraph([
  { name: 'books', sdl: books, url: 'http://books.invalid/' },
  { name: 'ratings', sdl: ratings, url: 'http://ratings.invalid/' },
]);
const planner = plannerBy(new QueryPlanner(Supergraph.build(supergraph), { exposeDocumentNodeInFetchNode: true }));
const context: RequestContext = { requestId: 'req_1', apiVersion: '2026-02-01', principal: null };

interface Asked {
  readonly subgraph: string;
  readonly variables: unknown;
  readonly context: unknown;
}

function asking(answer: object = { data: {} }) {
  const asked: Asked[] = [];
  const source = (subgraph: string) => ({
    process: async (options: { request: { variables?: unknown }; context: unknown }) => {
      asked.push({ subgraph, variables: options.request.variables, context: options.context });
      return answer;
    },
  });
  const ownerOf = soleOwners(planner, { books: source('books'), ratings: source('ratings') } as unknown as Parameters<
    typeof soleOwners
  >[1]);
  return { asked, ownerOf };
}

test('a document that one subgraph answers alone is asked of it, with the variables that it uses', async () => {
  const answer = { data: { book: { id: '1', title: 'Lift' } } };
  const { asked, ownerOf } = asking(answer);
  const owner = ownerOf(
    parse('query Book($id: ID!, $other: Int) { book(id: $id) { id title } shelf(id: "a") { books { title } } }'),
  );
  expect(await owner!({ id: '1', other: 2, more: 3 }, context)).toEqual(answer);
  expect(asked).toEqual([{ subgraph: 'books', variables: { id: '1' }, context }]);
});

test('errors come back as the subgraph gave them', async () => {
  const answer = {
    data: { book: null },
    errors: [{ message: 'There is no book.', extensions: { type: 'resource_not_found' } }],
  };
  expect(await asking(answer).ownerOf(parse('{ book(id: "1") { id } }'))!({}, context)).toEqual(answer);
});

test.each([
  ['two subgraphs have a part in', '{ book(id: "1") { id stars } }'],
  ['two subgraphs answer side by side', '{ book(id: "1") { id } best { id } }'],
  ['a variable decides about', 'query ($with: Boolean!) { book(id: "1") @include(if: $with) { id } }'],
  ['nobody has to be asked for', '{ __typename }'],
])('a document that %s has no sole owner', (_why, document) => {
  expect(asking().ownerOf(parse(document))).toBeUndefined();
});
