import type { Principal } from '../../../../schema/principal.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
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
