import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { ATTRIBUTION_DEFAULTS } from '../../../../schema/contract/attribution-request.ts';
import type { Principal } from '../../../../schema/principal.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { DateRange } from '../../intake/data-sources/date-range.ts';
import type { Joined } from '../../intake/data-sources/joined-sources.ts';
import { arrivalsOf } from '../../intake/data-sources/late-rows.ts';
import { Attribution } from '../attributions/attribution.ts';
import { publicationOf } from '../attributions/published-figures.ts';
import { Insight } from './insight.ts';

/** Of one source and account that are kept; the oldest give way. */
const MOST_INSIGHTS = 100;

/** The sources that are asked about, and the days. */
export interface RangeKey {
  readonly dataSourceIds: Joined<Uuid>;
  readonly range: DateRange;
}

/** Reads and makes room for insights inside the tenant's transaction; row level security does the rest. */
export class InsightStore {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  /** Names what a run on the sources would stand on now. */
  async ground(dataSourceIds: Joined<Uuid>): Promise<string> {
    const [row] = await this.#em.execute<{ experiments: string }[]>(
      `select concat_ws(' ', count(*), max(created_at)) as experiments from attribution.experiments
       where data_source_id = any (?::text::uuid[])`,
      [arrayOf(dataSourceIds)],
    );
    return `${await arrivalsOf(this.#em, dataSourceIds)} ${row?.experiments ?? ''}`;
  }

  /**
   * The newest completed causal analysis of the usual conversions, of any range where it is null; its last revision
   * while it is brought up to date. Null also where it can't be read, or a release that kept less has made it.
   */
  async newestAnalysis({
    dataSourceIds,
    range,
  }: {
    readonly dataSourceIds: Joined<Uuid>;
    readonly range: DateRange | null;
  }): Promise<Attribution | null> {
    const [found] = await this.#em.execute<{ id: Uuid }[]>(
      `select id from attribution.attributions
       where data_source_id = ? and model = 'causal' and conversion_event = ? and deleted_at is null
         and status <> 'failed' and result is not null
         and coalesce(data_source_ids, array[data_source_id]) = ?::text::uuid[]
         ${range === null ? '' : 'and date_start = ? and date_end = ?'}
       order by completed_at desc, id desc limit 1`,
      [
        dataSourceIds[0],
        ATTRIBUTION_DEFAULTS.conversionEvent,
        arrayOf(dataSourceIds),
        ...(range === null ? [] : [range.start, range.end]),
      ],
    );
    if (found === undefined) return null;
    const analysis = await this.#em.findOne(Attribution, { id: found.id });
    const figures = analysis === null ? null : publicationOf(analysis).figures;
    return figures?.holdoutWindows === undefined ? null : analysis;
  }

  /** The run that began last of those that stand on the same ground. */
  async newest({ dataSourceIds, range }: RangeKey, ground: string): Promise<Insight | null> {
    const [found] = await this.#em.execute<{ id: Uuid }[]>(
      `select id from attribution.insights
       where data_source_id = ? and ground = ? and deleted_at is null and date_start = ? and date_end = ?
         and coalesce(data_source_ids, array[data_source_id]) = ?::text::uuid[]
       order by created_at desc, id desc limit 1`,
      [dataSourceIds[0], ground, range.start, range.end, arrayOf(dataSourceIds)],
    );
    return found === undefined ? null : this.#em.findOne(Insight, { id: found.id });
  }

  /** Two requests that begin a run on one source do so one after the other. */
  async lock({ accountId }: Pick<Principal, 'accountId'>, dataSourceId: Uuid): Promise<void> {
    await this.#em.execute(`select pg_advisory_xact_lock(hashtextextended('insight ' || ? || ' ' || ?, 0))`, [
      accountId,
      dataSourceId,
    ]);
  }

  /** Of the runs that have ended, the oldest go, so that there is room for one more. */
  async makeRoom(dataSourceId: Uuid): Promise<void> {
    if ((await this.#em.count(Insight, { dataSourceId })) >= MOST_INSIGHTS)
      await this.#em.execute(
        `delete from attribution.insights where id in (
           select id from attribution.insights where data_source_id = ? and completed_at is not null
           order by created_at desc, id desc offset ?)`,
        [dataSourceId, MOST_INSIGHTS / 2],
      );
  }
}

const arrayOf = (ids: Joined<Uuid>): string => `{${ids.join(',')}}`;
