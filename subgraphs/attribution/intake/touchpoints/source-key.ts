/**
 * Whose rows: the account and one of its data sources. Every statement over the columnar tables binds both,
 * so that no query can reach another tenant's rows.
 */
export interface SourceKey {
  readonly accountId: string;
  readonly dataSourceId: string;
}

/** The predicate every read starts with; its parameters come from {@link sourceParams}. */
export const OF_SOURCE = 'account_id = {account_id:String} AND data_source_id = {data_source_id:String}';

/** Bound parameters of {@link OF_SOURCE}. */
export function sourceParams(key: SourceKey): { account_id: string; data_source_id: string } {
  return { account_id: key.accountId, data_source_id: key.dataSourceId };
}
