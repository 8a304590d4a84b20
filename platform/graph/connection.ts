import 'reflect-metadata';
import { ArgsType, Directive, Field, Int, ObjectType, type ClassType } from 'type-graphql';
import { z } from 'zod';
import { ProblemError } from '../../schema/problems.ts';
import type * as domain from '../../schema/trust-envelope.ts';
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
    description: 'Cursor to start behind. It stands for a place: rows that come or go before it shift what follows',
  })
  after?: string;
  @Field(() => Int, { nullable: true, description: 'How many from the end, at most 100 unless the field allows more' })
  last?: number;
  @Field(() => String, { nullable: true, description: 'Cursor to end before' }) before?: string;
  @Field(() => Int, { nullable: true, description: 'How many to skip; not together with a cursor' }) offset?: number;
}

/** A window on an ordered list: `limit` rows from row `offset` on, counted from 0. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
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
 * The window that Relay's arguments mean (GraphQL Cursor Connections, Pagination algorithm). Cursors stand for
 * places in the list, so that a window is one `limit`/`offset` query; its limit may be 0.
 * @param countAll is asked only for `last` without `before`, the one form that depends on the length of the list
 * @param largest that `first` and `last` may be; 100
 * @throws ProblemError `validation_error`
 */
export async function parsePage(
  args: PageArguments,
  countAll: () => Promise<number>,
  largest: number = LARGEST_PAGE,
): Promise<Page> {
  const schema = pageSchemas.get(largest) ?? pageSchema(largest);
  pageSchemas.set(largest, schema);
  const { first, after, last, before, offset } = parseInput(schema, args);
  if (isGiven(first) && isGiven(last)) throw invalid('last', 'exclusive', 'excludes first');
  if (isGiven(offset) && (isGiven(after) || isGiven(before) || isGiven(last)))
    throw invalid('offset', 'exclusive', 'goes with first only');
  const start = isGiven(after) ? parseCursor('after', after) + 1 : (offset ?? 0);
  const end = isGiven(before)
    ? parseCursor('before', before)
    : isGiven(last)
      ? await countAll()
      : Number.POSITIVE_INFINITY;
  const limit = Math.min(last ?? first ?? DEFAULT_PAGE, Math.max(0, end - start));
  return { limit, offset: isGiven(last) ? Math.max(start, end - limit) : start };
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== undefined && value !== null;
}

function invalid(name: string, code: string, message: string): ProblemError {
  return new ProblemError('validation_error', `${name}: ${message}`, { code, param: `/${name}` });
}

/** The opaque cursor of the row at a place in the list, counted from 0. */
export function cursorAt(place: number): string {
  return Buffer.from(`row:${place}`).toString('base64url');
}

function parseCursor(name: string, cursor: string): number {
  const place = /^row:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  if (place === undefined) throw invalid(name, 'invalid_cursor', 'is not a cursor of this list');
  return Number(place);
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
  nodes: readonly Node[],
  page: Page,
  totalCount: number,
  trust: domain.TrustEnvelope,
): Connection<Node> {
  const edges = nodes.map((node, index) => ({ node, cursor: cursorAt(page.offset + index) }));
  const pageInfo = {
    hasNextPage: page.offset + nodes.length < totalCount,
    hasPreviousPage: page.offset > 0 && totalCount > 0,
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
    @Field(() => String, { description: 'Its place in the list; for after and before' }) cursor!: string;
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
