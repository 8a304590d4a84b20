import { raw, type FilterQuery, type QueryOrderMap } from '@mikro-orm/postgresql';
import type { Page } from '../graph/connection.ts';
import { momentOf, type Uuid } from '../identifiers.ts';

/** A piece of SQL and what stands for its question marks. */
interface Sql {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** What narrows a list to a page of it, and puts it into order; a page from the end comes in the other one. */
export interface PageSql {
  readonly condition: Sql;
  /** `order by … limit … offset …`; one row more than the page holds, which tells whether the list goes on. */
  readonly window: Sql;
  /** The order alone. */
  readonly order: string;
}

/**
 * A list that begins with what was created last, ties by id, read by the keys of its rows and not by their places: what
 * is created or deleted meanwhile moves nothing (keyset pagination).
 * @param table that has `created_at` and the ids; where the row of a key is gone, its UUID tells when it was made
 */
export function newestFirst(page: Page, table: Sql, id = 'id'): PageSql {
  const position = (key: string): Sql => ({
    sql: `(coalesce((select created_at from ${table.sql} where ${id} = ?), ?::timestamptz), ?::uuid)`,
    values: [...table.values, key, momentOf(key as Uuid).toISOString(), key],
  });
  const [condition, direction] = [bounded(page, `(created_at, ${id})`, position), directionOf(page)];
  return ordered(page, condition, `order by created_at ${direction}, ${id} ${direction}`);
}

/** The same for MikroORM: what finds a page of the rows that match, whose entity has `createdAt`. */
export function findingNewest<Row extends object>(
  page: Page,
  table: string,
  matching: FilterQuery<Row>,
): {
  readonly where: FilterQuery<Row>;
  readonly options: { orderBy: QueryOrderMap<Row>[]; limit: number; offset: number };
} {
  const { condition } = newestFirst(page, { sql: table, values: [] });
  const direction = directionOf(page);
  return {
    where: { $and: [matching, { [raw(condition.sql, [...condition.values])]: [] }] } as FilterQuery<Row>,
    options: {
      orderBy: [{ createdAt: direction }, { id: direction }] as unknown as QueryOrderMap<Row>[],
      limit: page.limit + 1,
      offset: page.offset,
    },
  };
}

/** The same for a list in the order of its ids alone. */
export function newestIdFirst(page: Page): PageSql {
  const condition = bounded(page, 'id', (key) => ({ sql: '?::uuid', values: [key] }));
  return ordered(page, condition, `order by id ${directionOf(page)}`);
}

const directionOf = ({ fromEnd }: Page): string => (fromEnd ? 'asc' : 'desc');

function bounded({ after, before }: Page, columns: string, position: (key: string) => Sql): Sql {
  const behind = after === null ? [] : [{ sign: '<', ...position(after) }];
  const ahead = before === null ? [] : [{ sign: '>', ...position(before) }];
  const bounds = [...behind, ...ahead];
  return {
    sql: bounds.length === 0 ? 'true' : bounds.map(({ sign, sql }) => `${columns} ${sign} ${sql}`).join(' and '),
    values: bounds.flatMap(({ values }) => values),
  };
}

function ordered({ limit, offset }: Page, condition: Sql, order: string): PageSql {
  return { condition, window: { sql: `${order} limit ? offset ?`, values: [limit + 1, offset] }, order };
}
