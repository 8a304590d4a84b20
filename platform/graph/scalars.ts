import 'reflect-metadata';
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { GraphQLDateTimeISO, GraphQLJSON, GraphQLLocalDate, GraphQLSafeInt } from 'graphql-scalars';

function renamed(scalar: GraphQLScalarType, name: string, description: string): GraphQLScalarType {
  // Without the specification's address and extensions, so that every subgraph prints one and the same definition.
  return new GraphQLScalarType({
    ...scalar.toConfig(),
    name,
    description,
    specifiedByURL: null,
    extensions: {},
    astNode: null,
    extensionASTNodes: [],
  });
}

/** A `Date` inside, RFC 3339 with milliseconds and `Z` outside; text in both local and remote mode. */
export const DateTimeScalar = renamed(
  new GraphQLScalarType({
    ...GraphQLDateTimeISO.toConfig(),
    parseValue: (value) => storable(GraphQLDateTimeISO.parseValue(value)),
    parseLiteral: (node, variables) => storable(GraphQLDateTimeISO.parseLiteral(node, variables)),
  }),
  'DateTime',
  'A moment, RFC 3339 in UTC with milliseconds: 2026-01-31T12:00:00.000Z',
);

/** PostgreSQL has no year 0, and RFC 3339 none behind 9999; an offset may lead to either. */
function storable(moment: Date): Date {
  const year = moment.getUTCFullYear();
  if (year < 1 || year > 9999) throw new GraphQLError('DateTime must lie in the years 1 to 9999, UTC');
  return moment;
}

/** `YYYY-MM-DD` as text on both sides: a UTC day is not a moment, so no `Date` stands for it. */
export const DateScalar = renamed(GraphQLLocalDate, 'Date', 'A UTC day: 2026-01-31');

/** Any JSON value; maps keyed by data (channel names) pass through it untouched. */
export const JsonScalar = renamed(GraphQLJSON, 'JSON', 'Any JSON value');

/** Integer minor units of a currency, exact up to 2^53 - 1, which `Int` (32 bits) is not. */
export const CentsScalar = renamed(GraphQLSafeInt, 'Cents', 'An amount in integer minor units, exact up to 2^53 - 1');

/** Text on both sides, as it was given: a `URL` would write it another way than the other door does. */
export const UrlScalar = new GraphQLScalarType<string, string>({
  name: 'URL',
  description: 'An absolute URL (RFC 3986)',
  serialize: String,
  parseValue: (value) => absolute(value),
  parseLiteral: (node) => absolute(node.kind === Kind.STRING ? node.value : undefined, node),
});

/** @param node where it stands in a document, which tells such a value from a broken document */
function absolute(value: unknown, node?: ValueNode): string {
  if (typeof value !== 'string' || !URL.canParse(value))
    throw new GraphQLError('URL must be an absolute address', node === undefined ? {} : { nodes: node });
  return value;
}

/** Every scalar beyond the five that GraphQL brings. */
export const SCALARS: readonly GraphQLScalarType[] = [DateTimeScalar, DateScalar, JsonScalar, CentsScalar, UrlScalar];
