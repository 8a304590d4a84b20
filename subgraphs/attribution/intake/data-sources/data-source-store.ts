import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../../../schema/problems.ts';
import { Rows, type Page } from '../../../../platform/graph/connection.ts';
import { findingNewest } from '../../../../platform/postgres/newest-first.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { DataSource } from './data-source.ts';
import { Upload } from './upload.ts';

/** Reads sources and their uploads inside the tenant's transaction. Deleted sources are not there any more. */
export class DataSourceStore {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  /**
   * @param param where the request names the source; absent where the path does
   * @throws ProblemError `resource_not_found`, for another tenant's source exactly as for an unknown one.
   */
  async require(id: Uuid, param?: string): Promise<DataSource> {
    const found = await this.find(id);
    if (found === null)
      throw new ProblemError(
        'resource_not_found',
        `There is no data source ${publicId('ds', id)}.`,
        param === undefined ? {} : { param },
      );
    return found;
  }

  async find(id: Uuid): Promise<DataSource | null> {
    return this.#em.findOne(DataSource, { id, deletedAt: null });
  }

  /**
   * Locks the source until the transaction ends; one that is only there to be read, for this account. @throws
   * ProblemError `resource_not_found`.
   */
  async lock(id: Uuid): Promise<DataSource> {
    const locked = await this.#em.execute<unknown[]>(`select 1 from attribution.data_sources where id = ? for update`, [
      id,
    ]);
    if (locked.length === 0)
      await this.#em.execute(
        `select pg_advisory_xact_lock(hashtextextended(current_setting('liftgraph.account_id') || ?, 0))`,
        [id],
      );
    return this.require(id);
  }

  async findMany(ids: readonly Uuid[]): Promise<readonly DataSource[]> {
    return this.#em.find(DataSource, { id: { $in: [...ids] }, deletedAt: null });
  }

  /** Sources that were connected with a brand, oldest first. */
  async ofBrand(brandId: string, limit: number): Promise<readonly DataSource[]> {
    return this.#em.find(DataSource, { brandId, deletedAt: null }, { orderBy: [{ id: 'asc' }], limit });
  }

  /** Newest first, with the number of all sources. */
  async list(page: Page): Promise<readonly [Rows<DataSource>, number]> {
    const matching = { deletedAt: null };
    const { where, options } = findingNewest<DataSource>(page, 'attribution.data_sources', matching);
    const found = await this.#em.find(DataSource, where, options);
    return [Rows.of(found, page, ({ id }) => id), await this.#em.count(DataSource, matching)];
  }

  async count(): Promise<number> {
    return this.#em.count(DataSource, { deletedAt: null });
  }

  /** The last uploads and syncs of a source, newest first. */
  async recentUploads(dataSourceId: Uuid, limit: number): Promise<readonly Upload[]> {
    return this.#em.find(Upload, { dataSourceId }, { orderBy: [{ startedAt: 'desc' }, { id: 'desc' }], limit });
  }

  /** The sync that is queued or running, if any. */
  async openSync(dataSourceId: Uuid): Promise<Upload | null> {
    return this.#em.findOne(Upload, { dataSourceId, cause: 'sync', status: { $in: ['queued', 'running'] } });
  }

  /** The latest upload that has not ended, if any; one that was killed counts as well. */
  async runningUpload(dataSourceId: Uuid): Promise<Upload | null> {
    const [upload] = await this.#em.find(
      Upload,
      { dataSourceId, cause: 'upload', status: 'running' },
      { orderBy: [{ startedAt: 'desc' }, { id: 'desc' }], limit: 1 },
    );
    return upload ?? null;
  }

  /** When the last sync was asked for that went well; null before the first. */
  async lastSuccessfulSync(dataSourceId: Uuid): Promise<Date | null> {
    const [sync] = await this.#em.find(
      Upload,
      { dataSourceId, cause: 'sync', status: 'completed' },
      { orderBy: [{ startedAt: 'desc' }, { id: 'desc' }], limit: 1 },
    );
    return sync?.startedAt ?? null;
  }
}
