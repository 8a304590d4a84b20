import type { StatementParam } from '../../../../platform/clickhouse/client.ts';
import { channelParams, type ChannelNaming } from './channel-expression.ts';

/** One data source of an account. */
export interface OneSource {
  readonly accountId: string;
  readonly dataSourceId: string;
  /** How its channels are called; as the files call them where absent. */
  readonly naming?: ChannelNaming | undefined;
}

/**
 * Whose rows: one data source, or several that are read as if they were one. Every statement over the columnar tables
 * binds accounts and sources, so that no query can reach another tenant's rows.
 */
export interface SourceKey extends OneSource {
  /** What is read beside the first; nothing where absent. */
  readonly others?: readonly OneSource[] | undefined;
  /** Where the store notes which ids are one person; absent where each id is one. */
  readonly people?: string | undefined;
  /**
   * How many orders more than one of the sources tells; that of the first of them counts. Looked for while rows are
   * read where absent.
   */
  readonly repeatedOrders?: number | undefined;
}

/** The sources in the order in which the caller named them. */
export function sourcesOf({ accountId, dataSourceId, naming, others = [] }: SourceKey): readonly OneSource[] {
  return [{ accountId, dataSourceId, naming }, ...others];
}

/** The key of several sources. */
export function joinedKey([first, ...others]: readonly [OneSource, ...OneSource[]]): SourceKey {
  return others.length === 0 ? first : { ...first, others };
}

/** The key alone, of a query that says more. */
export function sourceKeyOf({ accountId, dataSourceId, naming, others, people, repeatedOrders }: SourceKey): SourceKey {
  return { accountId, dataSourceId, naming, others, people, repeatedOrders };
}

/** The predicate every read starts with; its parameters come from {@link sourceParams}. */
export const OF_SOURCE =
  'account_id IN {account_ids:Array(String)} AND data_source_id IN {data_source_ids:Array(String)}';

/** Sources whose channels are called alike, and how their parameters begin. */
export interface NamedAlike {
  readonly naming: ChannelNaming | undefined;
  readonly dataSourceIds: readonly string[];
  readonly prefix: string;
}

/** One group where all sources are named alike, as one source alone is. */
export function namedAlike(key: SourceKey): readonly [NamedAlike, ...NamedAlike[]] {
  const groups = Map.groupBy(sourcesOf(key), ({ naming }) => JSON.stringify(naming ?? null));
  return [...groups.values()].map((alike, place) => ({
    naming: alike[0]!.naming,
    dataSourceIds: alike.map(({ dataSourceId }) => dataSourceId),
    prefix: place === 0 ? '' : `group_${place}_`,
  })) as unknown as readonly [NamedAlike, ...NamedAlike[]];
}

/** The predicate for the rows of one of several groups. */
export const ofGroup = ({ prefix }: NamedAlike): string =>
  `${OF_SOURCE} AND data_source_id IN {${prefix}sources:Array(String)}`;

/** Bound parameters of {@link OF_SOURCE}, and of the names of its channels. The first source stands by itself, too. */
export function sourceParams(
  key: SourceKey,
): Record<string, StatementParam> & { account_id: string; data_source_id: string } {
  const sources = sourcesOf(key);
  const groups = namedAlike(key);
  return {
    account_id: key.accountId,
    data_source_id: key.dataSourceId,
    account_ids: [...new Set(sources.map(({ accountId }) => accountId))],
    data_source_ids: sources.map(({ dataSourceId }) => dataSourceId),
    ...(key.people !== undefined && { people: key.people }),
    ...Object.assign(
      {},
      ...groups.map((group) => ({
        ...(groups.length > 1 && { [`${group.prefix}sources`]: group.dataSourceIds }),
        ...(group.naming !== undefined && channelParams(group.naming, group.prefix)),
      })),
    ),
  };
}
