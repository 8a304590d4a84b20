import 'reflect-metadata';
import { GraphQLError, GraphQLScalarType, Kind, valueFromASTUntyped, type ValueNode } from 'graphql';
import { GraphQLDateTimeISO, GraphQLJSON, GraphQLLocalDate, GraphQLSafeInt } from 'graphql-scalars';
import { separateDays } from '../../schema/contract/date-range.ts';
import { dayRangeFault } from '../../schema/day-range.ts';

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

/**
 * `YYYY-MM-DD` as text on both sides: a UTC day is not a moment, so no `Date` stands for it. A value that is no list
 * stands for a list of one, so what a list of two days may also be written as is read here: `start,end`.
 */
export const DateScalar = renamed(
  new GraphQLScalarType<string, string>({
    ...GraphQLLocalDate.toConfig(),
    parseValue: dayOrRange,
    parseLiteral: (node, variables) => dayOrRange(valueFromASTUntyped(node, variables), node),
  }),
  'Date',
  'A UTC day: 2026-01-31. Where a range of days is asked for, [start, end] may also be written as {start, end} or ' +
    'as "start,end".',
);

/** @param node where it stands in a document, which tells such a value from a broken document */
function dayOrRange(value: unknown, node?: ValueNode): string {
  const days = typeof value === 'string' ? separateDays([value]) : endsOf(value);
  if (days.length === 0 || days.length > 2 || !days.every(isDay))
    throw new GraphQLError('Date must be a day, YYYY-MM-DD', node === undefined ? {} : { nodes: node });
  return days.join(',');
}

function endsOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const { start, end, ...others } = value as Readonly<Record<string, unknown>>;
  return Object.keys(others).length === 0 ? [start, end] : [];
}

function isDay(value: unknown): boolean {
  return typeof value === 'string' && dayRangeFault(value, value) === null;
}

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
