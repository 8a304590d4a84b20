import type { FilterQuery, SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../../../schema/problems.ts';
import { Rows, type Page } from '../../../../platform/graph/connection.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { Database, TenantScope } from '../../../../platform/postgres/database.ts';
import { findingNewest } from '../../../../platform/postgres/newest-first.ts';
import type { RunStatus } from '../../runs/run.ts';
import { Attribution, type AttributionModel } from './attribution.ts';

/** Narrows a list of analyses; every member is optional. */
export interface AttributionFilter {
  readonly status?: RunStatus | undefined;
  readonly model?: AttributionModel | undefined;
  readonly dataSourceId?: Uuid | undefined;
  readonly agentId?: Uuid | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

export interface AttributionPage {
  readonly rows: Rows<Attribution>;
  /** What the figures of the page take. */
  readonly figureBytes: number;
  /** Of all that match. */
  readonly totalCount: number;
}

/** Figures of one page. Whoever writes an answer of them down can do nothing else meanwhile. */
const MAX_PAGE_BYTES = 8 * 1024 ** 2;

/**
 * Lists analyses inside the tenant's transaction; row level security does the rest. Deleted ones are not there any
 * more.
 */
export class AttributionStore {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  /**
   * Newest first, ties by id, without their figures.
   * @throws ProblemError `validation_error`, code `page_too_large`, for more figures than fit into one answer
   */
  async list(filter: AttributionFilter, page: Page): Promise<AttributionPage> {
    const where = conditionOf(filter);
    const finding = findingNewest(page, 'attribution.attributions', where);
    const listed = await this.#em.find(Attribution, finding.where, { ...finding.options, exclude: ['result'] });
    const rows = Rows.of(listed as Attribution[], page, ({ id }) => id);
    const figureBytes = await this.#figureBytes(rows.list.map(({ id }) => id));
    return { rows, figureBytes, totalCount: await this.#em.count(Attribution, where) };
  }

  /** The same rows with their figures. */
  async withFigures(rows: Rows<Attribution>): Promise<Rows<Attribution>> {
    const read = await this.#em.find(Attribution, { id: { $in: [...rows.keys] as Uuid[] } }, { refresh: true });
    const byId = new Map<string, Attribution>(read.map((row) => [row.id, row]));
    const list = rows.keys.flatMap((key) => byId.get(key) ?? []);
    return new Rows(
      list,
      list.map(({ id }) => id),
      rows.hasMore,
    );
  }

  async #figureBytes(ids: readonly Uuid[]): Promise<number> {
    const [{ bytes }] = await this.#em.execute<[{ bytes: string }]>(
      `select coalesce(sum(result_bytes), 0) as bytes from attribution.attributions where id = any (?::text::uuid[])`,
      [`{${ids.join(',')}}`],
    );
    if (Number(bytes) <= MAX_PAGE_BYTES) return Number(bytes);
    const mebibytes = (each: number): string => (each / 1024 ** 2).toFixed(1);
    throw new ProblemError(
      'validation_error',
      `These ${ids.length} analyses hold ${mebibytes(Number(bytes))} MiB of figures, more than the ` +
        `${mebibytes(MAX_PAGE_BYTES)} MiB that one page may. Ask for fewer at a time, by per_page or first.`,
      { code: 'page_too_large' },
    );
  }

  async count(filter: AttributionFilter): Promise<number> {
    return this.#em.count(Attribution, conditionOf(filter));
  }
}

/** What the figures of an analysis take; 0 where there are none, and for one that the caller may not see. */
export async function resultBytes(database: Database, tenant: TenantScope, id: Uuid): Promise<number> {
  const [row] = await database.askAs<{ bytes: number }>(tenant, {
    name: 'attributions.result-bytes',
    text: 'select coalesce(result_bytes, 0) as bytes from attribution.attributions where id = $1',
    values: [id],
  });
  return row?.bytes ?? 0;
}

function conditionOf(filter: AttributionFilter): FilterQuery<Attribution> {
  const created = {
    ...(filter.createdAfter && { $gte: filter.createdAfter }),
    ...(filter.createdBefore && { $lte: filter.createdBefore }),
  };
  return {
    deletedAt: null,
    ...(filter.status && { status: filter.status }),
    ...(filter.model && { model: filter.model }),
    ...(filter.dataSourceId && {
      $or: [{ dataSourceId: filter.dataSourceId }, { dataSourceIds: { $contains: [filter.dataSourceId] } }],
    }),
    ...(filter.agentId && { agentId: filter.agentId }),
    ...(Object.keys(created).length > 0 && { createdAt: created }),
  };
}
