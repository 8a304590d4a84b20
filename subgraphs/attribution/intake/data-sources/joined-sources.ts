import { ProblemError } from '../../../../schema/problems.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { MAX_JOINED_SOURCES } from '../../../../schema/contract/named-sources.ts';
import { publicId, requireUuid, type Uuid } from '../../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import { canonicalDigest } from '../../../../services/trust/canonical-json.ts';
import type { DataSource } from './data-source.ts';
import { DataSourceStore } from './data-source-store.ts';
import { requireSource, type SourceServices } from './require-source.ts';

/* Several sources that one request reads as if they were one: the files of a shop, or all that a brand has. */

/** At least one: in the order in which they count. */
export type Joined<Source> = readonly [Source, ...Source[]];

/** How a request names its sources: exactly one of the three, as its shape in the contract makes sure. */
export interface NamedSources {
  readonly dataSourceId?: string | undefined;
  readonly dataSourceIds?: readonly string[] | undefined;
  readonly brandId?: string | undefined;
}

/** Where the request names its sources, as a JSON Pointer. */
export function sourcesParam({ dataSourceIds, brandId }: NamedSources): string {
  return dataSourceIds !== undefined ? '/data_source_ids' : brandId !== undefined ? '/brand_id' : '/data_source_id';
}

/** Where the request names one of them. */
export function sourceParam(named: NamedSources, place: number): string {
  return named.dataSourceIds === undefined ? sourcesParam(named) : `/data_source_ids/${place}`;
}

/**
 * The sources of a request as the caller may see them, ready to be read.
 * @throws ProblemError `resource_not_found`, for another tenant's source exactly as for an unknown one, and for a brand
 * without sources; `validation_error` / `mixed_currencies`, `too_many_sources` (of a brand)
 */
export async function requireSources(
  services: SourceServices,
  principal: Principal,
  named: NamedSources,
): Promise<Joined<DataSource>> {
  const asked = await askedIds(services, principal, named);
  const sources: DataSource[] = [];
  for (const [id, param] of asked) sources.push(await requireSource(services, principal, id, param));
  assertOneCurrency(sources, sourcesParam(named));
  return sources as unknown as Joined<DataSource>;
}

async function askedIds(
  { database }: SourceServices,
  principal: Principal,
  named: NamedSources,
): Promise<readonly (readonly [Uuid, string])[]> {
  const { dataSourceId, dataSourceIds, brandId } = named;
  if (dataSourceIds !== undefined)
    return dataSourceIds.map((each, place) => {
      const param = sourceParam(named, place);
      return [requireUuid('ds', each, 'data source', param), param];
    });
  if (brandId === undefined)
    return [[requireUuid('ds', dataSourceId ?? '', 'data source', '/data_source_id'), '/data_source_id']];
  const param = '/brand_id';
  const found = await database.asTenant(principal, (em) =>
    new DataSourceStore(em).ofBrand(brandId, MAX_JOINED_SOURCES + 1),
  );
  if (found.length === 0)
    throw new ProblemError('resource_not_found', `There is no data source of the brand ${JSON.stringify(brandId)}.`, {
      param,
    });
  if (found.length > MAX_JOINED_SOURCES)
    throw new ProblemError(
      'validation_error',
      `brand_id: the brand has more than ${MAX_JOINED_SOURCES} data sources; name those that count in data_source_ids.`,
      { code: 'too_many_sources', param },
    );
  return found.map(({ id }) => [id as Uuid, param]);
}

/** What the money of a source is in; null where it holds none yet. Amounts without a currency are dollars. */
export function currencyOf({ currency, statistics }: Pick<DataSource, 'currency' | 'statistics'>): string | null {
  const { conversions = 0, spendRows = 0, paths = 0 } = statistics ?? {};
  return currency ?? (conversions + spendRows + paths > 0 ? 'USD' : null);
}

/** The one that all money of the sources is in. */
export function joinedCurrency(sources: readonly DataSource[]): string {
  return sources.map(currencyOf).find((currency) => currency !== null) ?? 'USD';
}

/** @throws ProblemError `validation_error` / `mixed_currencies` */
function assertOneCurrency(sources: readonly DataSource[], param: string): void {
  const currencies = Map.groupBy(
    sources.filter((source) => currencyOf(source) !== null),
    (source) => currencyOf(source)!,
  );
  if (currencies.size < 2) return;
  const held = [...currencies].map(([currency, each]) => `${currency} (${each.map(describe).join('; ')})`).join(', ');
  throw new ProblemError(
    'validation_error',
    `${param.slice(1)}: the sources hold sums in ${currencies.size} currencies, which do not add up: ${held}. Name ` +
      'sources of one currency, or connect those of another again with a currency column and a file of rates (fx).',
    { code: 'mixed_currencies', param },
  );
}

function describe({ id, statistics }: DataSource): string {
  const { conversions = 0, spendRows = 0, paths = 0 } = statistics ?? {};
  const held = [
    [conversions, 'conversions'],
    [spendRows, 'rows of spend'],
    [paths, 'paths'],
  ] as const;
  const counts = held.filter(([count]) => count > 0).map(([count, what]) => `${count.toLocaleString('en-US')} ${what}`);
  return `${publicId('ds', id as Uuid)}: ${counts.join(', ') || 'no amounts yet'}`;
}

/** Ids of the sources that an analysis read, the first among them. */
export function sourceIdsOf({
  dataSourceId,
  dataSourceIds,
}: {
  readonly dataSourceId: Uuid;
  readonly dataSourceIds?: readonly Uuid[] | null | undefined;
}): Joined<Uuid> {
  return (dataSourceIds ?? [dataSourceId]) as unknown as Joined<Uuid>;
}

/** The sources in the order of their ids; null where one of them is gone. */
export async function findSources(em: SqlEntityManager, ids: Joined<Uuid>): Promise<Joined<DataSource> | null> {
  const found = new Map((await new DataSourceStore(em).findMany(ids)).map((source) => [source.id as Uuid, source]));
  const sources = ids.flatMap((id) => found.get(id) ?? []);
  return sources.length < ids.length ? null : (sources as unknown as Joined<DataSource>);
}

/**
 * Names how rows are read beside what lies in them: by which channel rules, by whose identities, from which sources.
 * Equal for what is read alike; null for one source without any.
 */
export function readingDigest(
  sources: readonly Pick<DataSource, 'id' | 'channelRulesDigest' | 'identitiesDigest'>[],
): string | null {
  const [first] = sources;
  if (sources.length === 1 && first!.identitiesDigest == null) return first!.channelRulesDigest ?? null;
  return canonicalDigest(
    sources.map(({ id, channelRulesDigest = null, identitiesDigest = null }) => ({
      id,
      channelRulesDigest,
      identitiesDigest,
    })),
  );
}
