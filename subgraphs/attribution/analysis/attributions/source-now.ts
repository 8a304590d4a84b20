import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { DataSource } from '../../intake/data-sources/data-source.ts';
import { readingDigest, sourceIdsOf } from '../../intake/data-sources/joined-sources.ts';
import { daysChangedSince, UNDATED } from '../../intake/data-sources/source-days.ts';
import type { Attribution } from './attribution.ts';
import type { SourceNow } from './present-trust.ts';

/** A run whose trust was measured, of whatever kind. */
type Judged = Pick<Attribution, 'id' | 'dataSourceId' | 'trust'> & Partial<Pick<Attribution, 'dataSourceIds'>>;

/**
 * What the sources of these analyses are now, deleted ones included: one indexed read for all, and one more where rows
 * have arrived since a run. By id of the analysis; those without evidence of trust are left out.
 */
export async function sourcesNow(
  em: SqlEntityManager,
  attributions: readonly Judged[],
): Promise<ReadonlyMap<Uuid, SourceNow>> {
  const measured = attributions.flatMap((attribution) =>
    attribution.trust == null ? [] : [{ attribution, since: new Date(attribution.trust.measuredAt) }],
  );
  if (measured.length === 0) return new Map();
  const ids = [...new Set(measured.flatMap(({ attribution }) => sourceIdsOf(attribution)))];
  const sources = new Map(
    (await em.find(DataSource, { id: { $in: ids } })).map((source) => [source.id as Uuid, source]),
  );
  const fed = measured.flatMap(({ attribution, since }) =>
    sourceIdsOf(attribution)
      .filter((id) => (sources.get(id)?.lastSync ?? since) > since)
      .map((dataSourceId) => ({ attribution, question: { dataSourceId, since, ...reachOf(attribution) } })),
  );
  const changed = await daysChangedSince(
    em,
    fed.map(({ question }) => question),
  );
  const changedDays = new Map<string, Set<string>>(measured.map(({ attribution }) => [attribution.id, new Set()]));
  for (const [place, { attribution }] of fed.entries())
    for (const day of changed[place]!) changedDays.get(attribution.id)!.add(day);
  return new Map(
    measured.map(({ attribution }) => [
      attribution.id as Uuid,
      {
        source: asOneSource(sourceIdsOf(attribution).map((id) => sources.get(id) ?? null)),
        changedDays: changedDays.get(attribution.id)!,
      },
    ]),
  );
}

/**
 * Sources that were read together, as the trust of an analysis asks for one: connected as long as all are, as healthy
 * as they are on average, each by its days; null where one is gone altogether.
 */
export function asOneSource(sources: readonly (DataSource | null)[]): SourceNow['source'] {
  const known = sources.filter((source) => source !== null);
  const [first] = known;
  if (first === undefined || known.length < sources.length) return null;
  const channelRulesDigest = readingDigest(known);
  if (known.length === 1)
    return channelRulesDigest === (first.channelRulesDigest ?? null) ? first : readAs(first, channelRulesDigest);
  const healths = (now: Date) => known.flatMap((source) => source.healthScore(now) ?? []);
  return {
    deletedAt: known.find(({ deletedAt }) => deletedAt != null)?.deletedAt ?? null,
    error: known.find(({ error }) => error != null)?.error ?? null,
    statistics: first.statistics ?? null,
    statusAt: (now) => known.map((source) => source.statusAt(now)).find((status) => status === 'error') ?? 'connected',
    healthScore: (now) => meanOf(healths(now)),
    rowsAccepted: known.reduce((sum, source) => sum + Number(source.rowsAccepted), 0),
    rowsRejected: known.reduce((sum, source) => sum + Number(source.rowsRejected), 0),
    channelRulesDigest,
  };
}

function readAs(source: DataSource, channelRulesDigest: string | null): SourceNow['source'] {
  const { deletedAt = null, error = null, statistics = null, rowsAccepted, rowsRejected } = source;
  return {
    deletedAt,
    error,
    statistics,
    statusAt: (now) => source.statusAt(now),
    healthScore: (now) => source.healthScore(now),
    rowsAccepted,
    rowsRejected,
    channelRulesDigest,
  };
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

/** First and last day that the run read rows of: changes of others say nothing of it. */
function reachOf({ trust }: Judged): { readonly first: string; readonly last: string } {
  const days = Object.keys(trust!.evidence.days)
    .filter((day) => day !== UNDATED)
    .toSorted();
  return { first: days[0] ?? UNDATED, last: days.at(-1) ?? UNDATED };
}
