import type { Principal } from '../../../../schema/principal.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import type { DataSource } from './data-source.ts';
import { DataSourceStore } from './data-source-store.ts';

/**
 * Makes the rows of a synthetic source that today needs and that are not there yet; answers whether there were any.
 * Filled by the sandbox.
 */
export type RefreshSandbox = (source: DataSource) => Promise<boolean>;

export interface SourceServices {
  readonly database: Database;
  readonly refreshSandbox: RefreshSandbox;
}

/**
 * A source as the caller may see it, ready to be analysed: that of the sandbox with its rows.
 * @param param where the request names it; absent where the path does
 * @throws ProblemError `resource_not_found`, for another tenant's source exactly as for an unknown one.
 */
export async function requireSource(
  { database, refreshSandbox }: SourceServices,
  principal: Principal,
  id: Uuid,
  param?: string,
): Promise<DataSource> {
  const load = (): Promise<DataSource> =>
    database.asTenant(principal, (em) => new DataSourceStore(em).require(id, param));
  const source = await load();
  return (await refreshSandbox(source)) ? load() : source;
}

/**
 * A source without rows answers no question.
 * @param param as in {@link requireSource}
 * @throws ProblemError `data_source_unavailable`
 */
export function refuseUnusable(source: DataSource, param?: string): void {
  if (source.statistics != null) return;
  const place = param === undefined ? {} : { param };
  if (source.error != null)
    throw new ProblemError('data_source_unavailable', source.error.message, { code: source.error.code, ...place });
  throw new ProblemError(
    'data_source_unavailable',
    `The data source ${publicId('ds', source.id as Uuid)} has no rows yet. Upload them with ` +
      'POST /v1/data-sources/{id}/records, then ask again.',
    { code: 'never_synced', ...place },
  );
}
