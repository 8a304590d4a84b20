import { z } from 'zod';
import { MAX_REACH } from '../../schema/page-reach.ts';
import type { PageSizes } from '../../schema/contract/noun.ts';
import { queryInteger } from '../../schema/contract/query-integer.ts';
import type { Json } from '../operation.ts';

const MAX_PER_PAGE = 100;

export const meta = z
  .object({ page: z.int().min(1), per_page: z.int().min(1), total: z.int().min(0), total_pages: z.int().min(0) })
  .meta({ id: 'Meta', description: 'Where this page stands in the list.' });

function queryIntegerOr(fallback: number, least: number, most: number, description: string) {
  return queryInteger(least, most, description)
    .default(fallback)
    .meta({ description, openapi: { type: 'integer', minimum: least, maximum: most, default: fallback } });
}

/** `page` and `per_page`, for rows to add their filters to. */
export const pageParameters = {
  page: queryIntegerOr(1, 1, MAX_REACH, 'Page, counted from 1. page × per_page must not pass 100 000.'),
  per_page: queryIntegerOr(20, 1, MAX_PER_PAGE, 'Entries per page.'),
};

/** A page by its number, from 1, and its size. */
export interface PageRequest {
  readonly page: number;
  readonly per_page: number;
}

/** Refines a query schema that has `page` and `per_page`. */
export function withinReach<Query extends z.ZodObject>(query: Query): Query {
  return query.refine((value) => isWithinReach(value['page'], value['per_page'], MAX_PER_PAGE), {
    path: ['page'],
    message: 'page × per_page must not pass 100 000',
    params: { code: 'page_out_of_reach' },
  });
}

/**
 * Whether a page lies within reach. True also where a part is wrong by itself: that is reported as such, not for the
 * product.
 */
export function isWithinReach(page: unknown, perPage: unknown, mostPerPage: number): boolean {
  return !isUpTo(page, MAX_REACH) || !isUpTo(perPage, mostPerPage) || page * perPage <= MAX_REACH;
}

function isUpTo(value: unknown, most: number): value is number {
  return typeof value === 'number' && value <= most;
}

export const pageQuery = withinReach(z.object(pageParameters));

/** A page by number as the graph takes it. */
export function graphPage(request: PageRequest): { first: number; offset: number } {
  return { first: request.per_page, offset: (request.page - 1) * request.per_page };
}

/** The `meta` member of a list of `total` entries. */
export function presentMeta(request: PageRequest, total: number): Json {
  return { page: request.page, per_page: request.per_page, total, total_pages: Math.ceil(total / request.per_page) };
}

/** The query of lists whose size the contract calls `limit`; `per_page` says the same, as in other lists. */
export function limitedPages(filter: z.ZodRawShape, { usual, most }: PageSizes): z.ZodObject {
  return z
    .object({
      limit: queryInteger(1, most, `Entries per page; ${usual} when nothing is said`).optional(),
      ...filter,
      page: pageParameters.page,
      per_page: queryInteger(1, MAX_PER_PAGE, 'The same as limit, as other lists have it').optional(),
    })
    .refine(({ page, limit, per_page: perPage }: Json) => isWithinReach(page, limit ?? perPage ?? usual, most), {
      path: ['page'],
      message: 'page × limit must not pass 100 000',
      params: { code: 'page_out_of_reach' },
    });
}
