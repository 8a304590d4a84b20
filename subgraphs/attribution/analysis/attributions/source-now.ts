import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { DataSource } from '../../intake/data-sources/data-source.ts';
import { daysChangedSince, UNDATED } from '../../intake/data-sources/source-days.ts';
import type { Attribution } from './attribution.ts';
import type { SourceNow } from './present-trust.ts';

/** A run whose trust was measured, of whatever kind. */
type Judged = Pick<Attribution, 'id' | 'dataSourceId' | 'trust'>;

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
  const ids = [...new Set(measured.map(({ attribution }) => attribution.dataSourceId))];
  const sources = new Map(
    (await em.find(DataSource, { id: { $in: ids } })).map((source) => [source.id as Uuid, source]),
  );
  const sourceOf = (attribution: Judged): DataSource | null => sources.get(attribution.dataSourceId) ?? null;
  const fed = measured.filter(({ attribution, since }) => (sourceOf(attribution)?.lastSync ?? since) > since);
  const changed = await daysChangedSince(
    em,
    fed.map(({ attribution, since }) => ({ dataSourceId: attribution.dataSourceId, since, ...reachOf(attribution) })),
  );
  const changedDays = new Map(fed.map(({ attribution }, index) => [attribution.id as Uuid, changed[index]!]));
  return new Map(
    measured.map(({ attribution }) => [
      attribution.id as Uuid,
      { source: sourceOf(attribution), changedDays: changedDays.get(attribution.id as Uuid) ?? new Set() },
    ]),
  );
}

/** First and last day that the run read rows of: changes of others say nothing of it. */
function reachOf({ trust }: Judged): { readonly first: string; readonly last: string } {
  const days = Object.keys(trust!.evidence.days)
    .filter((day) => day !== UNDATED)
    .toSorted();
  return { first: days[0] ?? UNDATED, last: days.at(-1) ?? UNDATED };
}
