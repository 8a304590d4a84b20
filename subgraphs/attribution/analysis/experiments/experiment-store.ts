import type { FilterQuery, SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../../../schema/problems.ts';
import { Rows, type Page } from '../../../../platform/graph/connection.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { findingNewest } from '../../../../platform/postgres/newest-first.ts';
import type { DateRange } from '../../intake/data-sources/date-range.ts';
import { Experiment } from './experiment.ts';

/** Narrows a list of experiments; every member is optional. */
export interface ExperimentFilter {
  readonly dataSourceId?: Uuid | undefined;
  readonly channel?: string | undefined;
}

/** Reads and removes experiments inside the tenant's transaction; row level security does the rest. */
export class ExperimentStore {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  /** @throws ProblemError `resource_not_found`, for another tenant's experiment exactly as for an unknown one. */
  async require(id: Uuid): Promise<Experiment> {
    const found = await this.#em.findOne(Experiment, { id });
    if (found === null) throw notFound(id);
    return found;
  }

  /** @throws ProblemError `resource_not_found`. */
  async remove(id: Uuid): Promise<void> {
    if ((await this.#em.nativeDelete(Experiment, { id })) === 0) throw notFound(id);
  }

  /** The result that stands for the same source, environment, channel, method and period already. */
  async findSame(
    key: Pick<Experiment, 'dataSourceId' | 'environment' | 'channel' | 'method' | 'periodStart' | 'periodEnd'>,
  ): Promise<Experiment | null> {
    return this.#em.findOne(Experiment, key);
  }

  /** Newest first, ties by id; with the number of all matches. */
  async list(filter: ExperimentFilter, page: Page): Promise<readonly [Rows<Experiment>, number]> {
    const matching = conditionOf(filter);
    const { where, options } = findingNewest(page, 'attribution.experiments', matching);
    const found = await this.#em.find(Experiment, where, options);
    return [Rows.of(found, page, ({ id }) => id), await this.#em.count(Experiment, matching)];
  }

  async count(filter: ExperimentFilter): Promise<number> {
    return this.#em.count(Experiment, conditionOf(filter));
  }

  /**
   * Experiments of sources whose period has days in common with a range, in a fixed order: by channel, period and id.
   */
  async overlapping(
    { ids, environment }: { readonly ids: readonly Uuid[] } & Pick<Experiment, 'environment'>,
    range: DateRange,
  ): Promise<readonly Experiment[]> {
    return this.#em.find(
      Experiment,
      {
        dataSourceId: { $in: [...ids] },
        environment,
        periodStart: { $lte: range.end },
        periodEnd: { $gte: range.start },
      },
      { orderBy: [{ channel: 'asc' }, { periodStart: 'asc' }, { periodEnd: 'asc' }, { id: 'asc' }] },
    );
  }
}

function conditionOf({ dataSourceId, channel }: ExperimentFilter): FilterQuery<Experiment> {
  return { ...(dataSourceId && { dataSourceId }), ...(channel && { channel }) };
}

function notFound(id: Uuid): ProblemError {
  return new ProblemError('resource_not_found', `There is no experiment ${publicId('exp', id)}.`);
}
