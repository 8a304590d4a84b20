import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
} from 'graphql';
import { CONTRACT } from '../../rest-adapter/contract.ts';
import type { Json, Operation } from '../../rest-adapter/operation.ts';
import { NOUNS } from '../../schema/contract/contract.ts';
import { typeNameOf } from '../../schema/contract/noun.ts';
import { ProblemError } from '../../schema/problems.ts';
import { snakeCase } from '../../schema/snake-case.ts';

type Path = GraphQLResolveInfo['path'];

/** What an example shows somewhere, and whether that is in the second record of a page. */
interface Place {
  readonly shown: unknown;
  readonly isSecond: boolean;
}

/** What a field has that neither the example nor the request says. */
const MADE_UP: Readonly<Record<string, unknown>> = {
  ID: 'id_1',
  String: 'text',
  Int: 0,
  Float: 0,
  Boolean: true,
  Cents: 0,
  Date: '2026-01-31',
  DateTime: '2026-02-01T09:30:00.000Z',
  JSON: {},
};

/**
 * The answer of a root field that is like the example of the row which says the document; its members follow from
 * `exampleMember`. What the path of the example names has to be named by an id of the same kind.
 * @throws ProblemError `resource_not_found`
 */
export function exampleAnswer(document: string, { variableValues }: GraphQLResolveInfo): object {
  const named = new Set(Object.values({ ...variableValues, ...inputOf(variableValues) }).map(kindOf));
  if (!Object.values(rowOf(document)?.example.path ?? {}).every((id) => named.has(kindOf(id))))
    throw new ProblemError('resource_not_found', 'There is no such object, or it is not yours.');
  return {};
}

/**
 * A member as the example shows it, else made up. Records are empty, for their members follow in their turn. In the
 * second record of a page everything is null that may be, so that both are seen; but an enum has the value that the
 * example does not show.
 */
export function exampleMember(document: string, { returnType, path, variableValues }: GraphQLResolveInfo): unknown {
  const { shown: record, isSecond } = placeOf(path.prev, rowOf(document)?.example.response);
  const shown = memberOf(record, path);
  const type = getNamedType(returnType);
  const isNull = isSecond ? shown != null || !isEnumType(type) : shown == null;
  if (isNull && !isNonNullType(returnType)) return null;
  const one = (value: unknown) => (isCompositeType(type) ? {} : leafOf(type, value));
  if (isListType(getNullableType(returnType))) return ((shown ?? []) as readonly unknown[]).map(one);
  // What a mutation deletes has the id that it was called by.
  return one(shown ?? inputOf(variableValues)?.[path.key]);
}

const rowOf = (name: string): Operation | undefined => CONTRACT.find(({ document }) => document === name);
const nounOf = (type: string | undefined) => NOUNS.find((noun) => typeNameOf(noun) === type);
const inputOf = (variables: Json): Json | undefined => variables['input'] as Json | undefined;
/** The prefix of an id; one without a prefix is like no other. */
const kindOf = (id: unknown): string => String(id).split('_', 1)[0]!;

/** The inverse of what RestShape makes of an enum; any other value passes. */
function leafOf(type: GraphQLNamedType, shown: unknown): unknown {
  if (isEnumType(type)) return shown == null ? type.getValues()[0]!.value : String(shown).toUpperCase();
  if (shown === undefined && !(type.name in MADE_UP)) throw new Error(`say in MADE_UP what a ${type.name} is like`);
  return shown ?? MADE_UP[type.name];
}

/**
 * The part of an example that shows the record at a path. REST shows some records flat, as members of what is above
 * them, and never says the root field.
 */
function placeOf(path: Path | undefined, body: unknown): Place {
  if (path?.prev === undefined) return { shown: body, isSecond: false };
  const above = placeOf(path.prev, body);
  const own = memberOf(above.shown, path);
  if (typeof path.key === 'number')
    return { shown: own, isSecond: above.isSecond || (path.prev.key === 'edges' && path.key > 0) };
  return { ...above, shown: own ?? above.shown };
}

/** Of a record; what a row without an example of its own has of a noun is like the example of that. */
function memberOf(record: unknown, { key, typename }: Path): unknown {
  const shown = record ?? nounOf(typename)?.example;
  if (typeof shown !== 'object' || shown === null) return undefined;
  if (Array.isArray(shown)) return shown[Number(key)] ?? shown[0];
  if (typename?.endsWith('Connection') === true) {
    const page = pageOf(shown);
    if (key === 'edges') return page;
    if (key === 'totalCount') return page.length;
  }
  return (shown as Json)[snakeCase(String(key))];
}

/** A page is the list of its example, whose only record comes a second time. */
function pageOf(body: object): readonly unknown[] {
  const [record] = Object.values(body).find(Array.isArray) ?? [];
  return [record, record];
}
