import 'reflect-metadata';
import { ArgsType, Directive, Field, Int, ObjectType, type ClassType } from 'type-graphql';
import { z } from 'zod';
import { MAX_REACH } from '../../schema/page-reach.ts';
import { ProblemError } from '../../schema/problems.ts';
import type * as domain from '../../schema/trust-envelope.ts';
import { isUuid } from '../identifiers.ts';
import { parseInput } from './parse-input.ts';
import { TrustEnvelope } from './trust-type.ts';

const DEFAULT_PAGE = 20;
const LARGEST_PAGE = 100;
/** Of GraphQL's Int, 32 bits: a longer list says this much. */
const LARGEST_INT = 2 ** 31 - 1;

/** The arguments of every connection; `offset` serves doors that page by number. */
@ArgsType()
export class PageArguments {
  @Field(() => Int, {
    nullable: true,
    description: 'How many from the start, at most 100 unless the field allows more; 20 when nothing is said',
  })
  first?: number;
  @Field(() => String, {
    nullable: true,
    description:
      'Cursor to start behind. It stands for its row: what comes or goes elsewhere in the list moves nothing',
  })
  after?: string;
  @Field(() => Int, { nullable: true, description: 'How many from the end, at most 100 unless the field allows more' })
  last?: number;
  @Field(() => String, { nullable: true, description: 'Cursor to end before' }) before?: string;
  @Field(() => Int, { nullable: true, description: 'How many to skip; not together with a cursor' }) offset?: number;
}

/** A window on an ordered list. */
export interface Page {
  readonly limit: number;
  /** Rows to skip, counted from 0; 0 where there is a bound. */
  readonly offset: number;
  /** Keys of the rows that the page lies behind and before; null without such a bound. */
  readonly after: string | null;
  readonly before: string | null;
  /** The page is the last of what lies there, not the first. */
  readonly fromEnd: boolean;
}

/** The first page of a list, of the usual size. */
export const FIRST_PAGE: Page = { limit: DEFAULT_PAGE, offset: 0, after: null, before: null, fromEnd: false };

/** What a cursor may hold: the key of a row in its list. */
interface PageRules {
  /** That `first` and `last` may be; 100. */
  readonly largest?: number;
  /** Whether a text can be the key of a row; a UUID when absent. */
  readonly isKey?: (text: string) => boolean;
}

const pageSchema = (largest: number) => {
  const count = z.int().min(1).max(largest).nullish();
  return z.object({
    first: count,
    after: z.string().nullish(),
    last: count,
    before: z.string().nullish(),
    offset: z.int().min(0).nullish(),
  });
};
/** By the largest page, since making one takes longer than parsing with it. */
const pageSchemas = new Map<number, ReturnType<typeof pageSchema>>();

/**
 * The window that Relay's arguments mean (GraphQL Cursor Connections, Pagination algorithm). A cursor stands for
 * its row and not for a place, so that rows which come or go elsewhere move nothing.
 * @throws ProblemError `validation_error`
 */
export function parsePage(args: PageArguments, { largest = LARGEST_PAGE, isKey = isUuid }: PageRules = {}): Page {
  const schema = pageSchemas.get(largest) ?? pageSchema(largest);
  pageSchemas.set(largest, schema);
  const { first, after, last, before, offset } = parseInput(schema, args);
  if (isGiven(first) && isGiven(last)) throw invalid('last', 'exclusive', 'excludes first');
  if (isGiven(offset) && (isGiven(after) || isGiven(before) || isGiven(last)))
    throw invalid('offset', 'exclusive', 'goes with first only');
  const limit = last ?? first ?? DEFAULT_PAGE;
  if (isGiven(offset) && offset + limit > MAX_REACH)
    throw invalid('offset', 'page_out_of_reach', `the page must end within the first ${MAX_REACH} rows: use after`);
  return {
    limit,
    offset: offset ?? 0,
    after: isGiven(after) ? parseCursor('after', after, isKey) : null,
    before: isGiven(before) ? parseCursor('before', before, isKey) : null,
    fromEnd: isGiven(last),
  };
}

/** The rows of a page in the order of the list, each with its key, and whether the list goes on where they end. */
export class Rows<Row> {
  readonly list: readonly Row[];
  readonly keys: readonly string[];
  readonly hasMore: boolean;

  constructor(list: readonly Row[], keys: readonly string[], hasMore: boolean) {
    this.list = list;
    this.keys = keys;
    this.hasMore = hasMore;
  }

  /** @param found from where the page begins, or from its end on; one more than it holds tells that there are more */
  static of<Row>(found: readonly Row[], { limit, fromEnd }: Page, keyOf: (row: Row) => string): Rows<Row> {
    const held = found.slice(0, limit);
    const list = fromEnd ? held.toReversed() : held;
    return new Rows(list, list.map(keyOf), found.length > limit);
  }

  /** Rows that a store has by places, counted from 0; the list has `total`. */
  static at<Row>(
    list: readonly Row[],
    { offset, total }: { readonly offset: number; readonly total: number },
    { fromEnd }: Page,
    keyOf: (row: Row, place: number) => string = (_row, place) => String(place),
  ): Rows<Row> {
    const keys = list.map((row, index) => keyOf(row, offset + index));
    return new Rows(list, keys, fromEnd ? offset > 0 : offset + list.length < total);
  }

  map<Shown>(present: (row: Row) => Shown): Rows<Shown> {
    return new Rows(this.list.map(present), this.keys, this.hasMore);
  }
}

/**
 * The same window by places, for a store that knows its rows by no key: `placeOf` says where a key stands, counted from
 * 0.
 */
export async function placesOf(
  { limit, offset, after, before, fromEnd }: Page,
  total: number,
  placeOf: (key: string) => number | Promise<number>,
): Promise<{ readonly limit: number; readonly offset: number }> {
  const start = after === null ? offset : (await placeOf(after)) + 1;
  const end = before === null ? total : Math.min(total, await placeOf(before));
  const held = Math.min(limit, Math.max(0, end - start));
  return { limit: held, offset: fromEnd ? Math.max(start, end - held) : start };
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== undefined && value !== null;
}

function invalid(name: string, code: string, message: string): ProblemError {
  return new ProblemError('validation_error', `${name}: ${message}`, { code, param: `/${name}` });
}

/** Whether a text can be the key of a row that is known by a whole number. */
export function isNumberKey(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}

/** The opaque cursor of the row with a key. */
export function cursorOf(key: string): string {
  return Buffer.from(`row:${key}`).toString('base64url');
}

function parseCursor(name: string, cursor: string, isKey: (text: string) => boolean): string {
  const key = /^row:(.{1,100})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  if (key === undefined || !isKey(key)) throw invalid(name, 'invalid_cursor', 'is not a cursor of this list');
  return key;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

@ObjectType('PageInfo', { description: 'Where a page lies in its list' })
@Directive('@shareable')
class PageInfoType implements PageInfo {
  @Field(() => Boolean, { description: 'Whether the list goes on behind this page' }) hasNextPage!: boolean;
  @Field(() => Boolean, { description: 'Whether there is something before this page' }) hasPreviousPage!: boolean;
  @Field(() => String, { nullable: true, description: 'Cursor of the first node; null on an empty page' })
  startCursor!: string | null;
  @Field(() => String, { nullable: true, description: 'Cursor of the last node; null on an empty page' }) endCursor!:
    | string
    | null;
}

/** A node of a Relay connection with its place. */
export interface Edge<Node> {
  readonly node: Node;
  readonly cursor: string;
}

/** A page of nodes with its place in the list. */
export interface Connection<Node> {
  readonly edges: readonly Edge<Node>[];
  readonly pageInfo: PageInfo;
  readonly totalCount: number;
  readonly trust: domain.TrustEnvelope;
}

/** Puts the rows of a page into a connection; `totalCount` is the length of the whole list. */
export function connectionOf<Node>(
  { list, keys, hasMore }: Rows<Node>,
  { offset, after, before, fromEnd }: Page,
  totalCount: number,
  trust: domain.TrustEnvelope,
): Connection<Node> {
  const edges = list.map((node, index) => ({ node, cursor: cursorOf(keys[index]!) }));
  const pageInfo = {
    hasNextPage: fromEnd ? before !== null : hasMore || before !== null,
    hasPreviousPage: fromEnd ? hasMore || after !== null : after !== null || (offset > 0 && totalCount > 0),
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
  return { edges, pageInfo, totalCount: Math.min(totalCount, LARGEST_INT), trust };
}

/** The types `<name>Connection` and `<name>Edge`. A name belongs to one subgraph. */
export function connectionType<Node extends object>(
  name: string,
  node: () => ClassType<Node>,
): ClassType<Connection<Node>> {
  @ObjectType(`${name}Edge`, { description: 'One member of a page, with its place in the list' })
  class EdgeType implements Edge<Node> {
    @Field(() => node(), { description: 'The member of the list' }) node!: Node;
    @Field(() => String, { description: 'Stands for it in the list; for after and before' }) cursor!: string;
  }

  @ObjectType(`${name}Connection`, { description: 'One page of a list' })
  class ConnectionType implements Connection<Node> {
    @Field(() => [EdgeType], { description: 'The members of this page, in order' }) edges!: readonly EdgeType[];
    @Field(() => PageInfoType, { description: 'Where the page lies in the list' }) pageInfo!: PageInfo;
    @Field(() => Int, { description: 'Length of the whole list' }) totalCount!: number;
    @Field(() => TrustEnvelope, { description: 'Trust envelope of the page' }) trust!: domain.TrustEnvelope;
  }
  return ConnectionType;
}
