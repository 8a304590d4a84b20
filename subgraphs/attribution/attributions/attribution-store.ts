import type { FilterQuery, SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../../schema/problems.ts';
import type { Page } from '../../../platform/graph/connection.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import { Attribution, type AttributionModel, type AttributionStatus } from './attribution.ts';

/** Narrows a list of analyses; every member is optional. */
export interface AttributionFilter {
  readonly status?: AttributionStatus | undefined;
  readonly model?: AttributionModel | undefined;
  readonly dataSourceId?: Uuid | undefined;
  readonly agentId?: Uuid | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** Reads and locks analyses inside the tenant's transaction; row level security does the rest. */
export class AttributionStore {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  /** @throws ProblemError `resource_not_found`, for another tenant's analysis exactly as for an unknown one. */
  async require(id: Uuid): Promise<Attribution> {
    const found = await this.#em.findOne(Attribution, { id });
    if (found === null) throw new ProblemError('resource_not_found', `There is no attribution ${publicId('attr', id)}.`);
    return found;
  }

  /** Locks the row until the transaction ends; null when it is gone. */
  async lock(id: Uuid): Promise<Attribution | null> {
    await this.#em.execute(`select 1 from attribution.attributions where id = ? for update`, [id]);
    return this.#em.findOne(Attribution, { id }, { refresh: true });
  }

  /** Newest first, ties by id; with the number of all matches. */
  async list(filter: AttributionFilter, page: Page): Promise<readonly [readonly Attribution[], number]> {
    return this.#em.findAndCount(Attribution, conditionOf(filter), { orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], limit: page.limit, offset: page.offset });
  }

  async count(filter: AttributionFilter): Promise<number> {
    return this.#em.count(Attribution, conditionOf(filter));
  }
}

function conditionOf(filter: AttributionFilter): FilterQuery<Attribution> {
  const created = { ...(filter.createdAfter && { $gte: filter.createdAfter }), ...(filter.createdBefore && { $lte: filter.createdBefore }) };
  return {
    ...(filter.status && { status: filter.status }),
    ...(filter.model && { model: filter.model }),
    ...(filter.dataSourceId && { dataSourceId: filter.dataSourceId }),
    ...(filter.agentId && { agentId: filter.agentId }),
    ...(Object.keys(created).length > 0 && { createdAt: created }),
  };
}
