import type { ChannelRule } from '../../../../schema/contract/channel-rules.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { joinedKey, type OneSource, type SourceKey } from '../touchpoints/source-key.ts';
import type { Database, SqlEntityManager } from '../../../../platform/postgres/database.ts';
import { canonicalDigest } from '../../../../services/trust/canonical-json.ts';
import type { DataSource } from '../data-sources/data-source.ts';
import type { Joined } from '../data-sources/joined-sources.ts';
import type { ChannelNaming } from '../touchpoints/channel-expression.ts';

/** The rules of a source, in their order; none where nobody has set any. */
export async function channelRulesOf(em: SqlEntityManager, dataSourceId: Uuid): Promise<readonly ChannelRule[]> {
  const [row] = await em.execute<{ rules: readonly ChannelRule[] }[]>(
    `select rules from attribution.channel_rules where data_source_id = ?`,
    [dataSourceId],
  );
  return row?.rules ?? [];
}

/** How the rows of a source are to be read now; undefined where it has no rules. */
export async function channelNamingOf(em: SqlEntityManager, dataSourceId: Uuid): Promise<ChannelNaming | undefined> {
  const rules = await channelRulesOf(em, dataSourceId);
  return rules.length === 0 ? undefined : { rules };
}

/** A source, to be read as its rules say now. */
export async function namedSource(
  database: Database,
  principal: Principal,
  { accountId, id }: Pick<DataSource, 'accountId' | 'id'>,
): Promise<SourceKey> {
  return { accountId, dataSourceId: id, naming: await database.asTenant(principal, (em) => channelNamingOf(em, id)) };
}

/** Several sources, to be read together, each as its rules say now. */
export async function namedSources(
  database: Database,
  principal: Principal,
  sources: Joined<Pick<DataSource, 'accountId' | 'id'>>,
): Promise<SourceKey> {
  return database.asTenant(principal, (em) => namedKey(em, sources));
}

/** The same inside of a transaction. */
export async function namedKey(
  em: SqlEntityManager,
  sources: Joined<Pick<DataSource, 'accountId' | 'id'>>,
): Promise<SourceKey> {
  const keys: OneSource[] = [];
  for (const { accountId, id } of sources)
    keys.push({ accountId, dataSourceId: id, naming: await channelNamingOf(em, id as Uuid) });
  return joinedKey(keys as unknown as Joined<OneSource>);
}

/** Puts rules in place of those that a source has, and their digest beside the source. */
export async function replaceChannelRules(
  em: SqlEntityManager,
  source: Pick<DataSource, 'id' | 'accountId' | 'environment'>,
  rules: readonly ChannelRule[],
): Promise<void> {
  if (rules.length === 0) {
    await em.execute(`delete from attribution.channel_rules where data_source_id = ?`, [source.id]);
  } else {
    await em.execute(
      `insert into attribution.channel_rules (data_source_id, account_id, environment, rules) values (?, ?, ?, ?::jsonb)
       on conflict (data_source_id) do update set rules = excluded.rules`,
      [source.id, source.accountId, source.environment, JSON.stringify(rules)],
    );
  }
  await em.execute(`update attribution.data_sources set channel_rules_digest = ? where id = ?`, [
    digestOf({ rules }),
    source.id,
  ]);
}

/** Names the rules that a run follows: equal for equal rules, null for none. */
export function digestOf(naming: ChannelNaming | undefined): string | null {
  return naming === undefined || naming.rules.length === 0 ? null : canonicalDigest(naming.rules);
}
