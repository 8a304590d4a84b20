import type { StatementParam } from '../../../../platform/clickhouse/client.ts';
import { channelParams, type ChannelNaming } from './channel-expression.ts';

/**
 * Whose rows: the account and one of its data sources. Every statement over the columnar tables binds both,
 * so that no query can reach another tenant's rows.
 */
export interface SourceKey {
  readonly accountId: string;
  readonly dataSourceId: string;
  /** How their channels are called; as the files call them where absent. */
  readonly naming?: ChannelNaming | undefined;
}

/** The predicate every read starts with; its parameters come from {@link sourceParams}. */
export const OF_SOURCE = 'account_id = {account_id:String} AND data_source_id = {data_source_id:String}';

/** Bound parameters of {@link OF_SOURCE}, and of the names of its channels. */
export function sourceParams({
  accountId,
  dataSourceId,
  naming,
}: SourceKey): Record<string, StatementParam> & { account_id: string; data_source_id: string } {
  return { account_id: accountId, data_source_id: dataSourceId, ...(naming !== undefined && channelParams(naming)) };
}
