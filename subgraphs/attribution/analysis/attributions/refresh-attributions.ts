import { refusedForGood } from '../../../../platform/clickhouse/outage.ts';
import type { Job, Jobs } from '../../../../platform/jobs/jobs.ts';
import { throughOutages } from '../../../../platform/jobs/through-outages.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../../platform/postgres/database.ts';
import type { Logger } from '../../../../platform/telemetry/logs.ts';
import { findSources, readingDigest, type Joined } from '../../intake/data-sources/joined-sources.ts';
import { awaitNotices, type LateRowsJob } from '../../intake/data-sources/late-rows.ts';
import { joinedKey, type OneSource, type SourceKey } from '../../intake/touchpoints/source-key.ts';
import type { OrderCosts, OrderCostsQuery } from '../../intake/touchpoints/order-costs.ts';
import type { RevenueOf, RevenueQuery } from '../../intake/touchpoints/range-revenue.ts';
import { refreshRun } from '../../runs/refresh-run.ts';
import { ATTRIBUTION_RUNS } from './attribution.ts';
import { profitabilityOf, statedMargin } from './profitability.ts';
import { rowsOfRun } from './run-attribution.ts';

/**
 * Least relative change of the revenue in its range that an analysis is run again for: 0.1 % (decisions of the
 * contract, states).
 */
const LEAST_CHANGE = { numerator: 1, denominator: 1_000 } as const;
/** Margins have four digits. */
const MARGIN_UNIT = 10_000;

export interface RefreshServices {
  readonly database: Database;
  readonly jobs: Jobs;
  readonly readRevenue: (key: SourceKey, queries: readonly RevenueQuery[]) => Promise<RevenueOf>;
  readonly orderCosts: (query: OrderCostsQuery) => Promise<OrderCosts | null>;
  readonly logger: Logger;
}

/** A completed analysis as far as late rows concern it. */
interface Candidate {
  readonly id: Uuid;
  readonly revision: number;
  readonly start: string;
  readonly end: string;
  readonly conversionEvent: string;
  readonly revenueCents: number;
  /** Share of revenue that it reckons with; null where none is known. */
  readonly margin: number | null;
  /** What its request said of that. */
  readonly askedMargin: number | null;
  /** What its first source says. */
  readonly sourceMargin: number | null;
  /** Its rows were read by other channel rules or identities than those in force. */
  readonly isReadOtherwise: boolean;
  readonly sources: SourceKey;
  readonly sourceIds: Joined<Uuid>;
}

/**
 * Looks at what the rows that a source has received change, and runs again every completed analysis with auto_refresh
 * whose revenue or margin they have moved far enough. Safe to repeat: an analysis that is run again already is left
 * alone, and looks for later rows itself when it ends.
 */
export async function refreshAttributions(
  services: RefreshServices,
  { data: source, signal }: Pick<Job<LateRowsJob>, 'data' | 'signal'>,
): Promise<void> {
  const candidates = await throughOutages(signal, () => readCandidates(services.database, source));
  if (candidates.length === 0) return;
  for (const alike of Map.groupBy(candidates, ({ sourceIds }) => sourceIds.join()).values())
    await lookAt(services, source, alike, signal);
}

/** At analyses that read the same sources. */
async function lookAt(
  services: RefreshServices,
  source: LateRowsJob,
  candidates: readonly Candidate[],
  signal: AbortSignal,
): Promise<void> {
  const [{ sources }] = candidates as Joined<Candidate>;
  const read = <Found>(work: () => Promise<Found>): Promise<Found | null> =>
    throughOutages(signal, work).catch((error: unknown) => {
      // Each of the many attempts at this look would meet the same, and so would a run of what it finds.
      if (refusedForGood(error) === null) throw error;
      services.logger.warn(
        { err: error, dataSource: publicId('ds', source.dataSourceId) },
        'the store cannot read what late rows have changed: nothing is run again',
      );
      return null;
    });
  const revenueOf = await read(() => services.readRevenue(sources, candidates));
  if (revenueOf === null) return;
  for (const candidate of candidates) {
    const revenueCents = revenueOf(candidate);
    const why = candidate.isReadOtherwise
      ? 'channel rules or identities have changed since an analysis: it is run again'
      : hasMoved(candidate.revenueCents, revenueCents)
        ? 'late rows have changed the revenue of an analysis: it is run again'
        : (await read(() => hasOtherMargin(services, candidate))) === true
          ? 'late rows have changed the margin of an analysis: it is run again'
          : null;
    if (why !== null && (await throughOutages(signal, () => beginRefresh(services, source, candidate))))
      services.logger.info(
        { attribution: publicId('attr', candidate.id), revenueCents, previousRevenueCents: candidate.revenueCents },
        why,
      );
  }
}

/** Costs of goods may come later than their orders. What the request said of the margin holds whatever they are. */
async function hasOtherMargin(
  { orderCosts }: RefreshServices,
  { sources, start, end, conversionEvent, margin, askedMargin, sourceMargin }: Candidate,
): Promise<boolean> {
  if (askedMargin !== null) return false;
  const costs = await orderCosts({ ...sources, dateRange: [start, end], conversionEvent });
  const { profitability } = profitabilityOf(statedMargin(null, sourceMargin), costs);
  const [before, now] = [margin, profitability?.margin ?? null].map(
    (share) => share && Math.round(share * MARGIN_UNIT),
  );
  return before == null || now == null ? before !== now : hasMoved(before, now);
}

/** Whether revenue has changed by 0.1 % of what it was, or by anything where it was nothing. */
export function hasMoved(beforeCents: number, nowCents: number): boolean {
  return (
    nowCents !== beforeCents &&
    Math.abs(nowCents - beforeCents) * LEAST_CHANGE.denominator >= Math.abs(beforeCents) * LEAST_CHANGE.numerator
  );
}

async function readCandidates(database: Database, source: LateRowsJob): Promise<readonly Candidate[]> {
  return database.asTenant(wholeAccount(source), async (em) => {
    await awaitNotices(em, source);
    const rows = await em.execute<CandidateRow[]>(
      `select id, revision, to_char(date_start, 'YYYY-MM-DD') as start, to_char(date_end, 'YYYY-MM-DD') as end,
        conversion_event as "conversionEvent", result ->> 'revenueCents' as "revenueCents",
        margin as "askedMargin", (result -> 'profitability' ->> 'margin')::float8 as margin,
        channel_rules_digest as "channelRulesDigest",
        array_to_string(coalesce(data_source_ids, array[data_source_id]), ',') as "sourceIds"
       from attribution.attributions
       where (data_source_id = ? or data_source_ids @> array[?::uuid]) and auto_refresh and status = 'completed'
         order by created_at`,
      [source.dataSourceId, source.dataSourceId],
    );
    const candidates: Candidate[] = [];
    for (const [ids, alike] of Map.groupBy(rows, (row) => row.sourceIds)) {
      const sourceIds = ids.split(',') as unknown as Joined<Uuid>;
      const found = await findSources(em, sourceIds);
      // What is left of sources of which one is gone says nothing of the analysis.
      if (found === null) continue;
      const keys = found.map(({ accountId, id }): OneSource => ({ accountId, dataSourceId: id }));
      const sources = joinedKey(keys as unknown as Joined<OneSource>);
      const digest = readingDigest(found);
      for (const { channelRulesDigest, ...row } of alike)
        candidates.push({
          ...row,
          sourceIds,
          sources,
          revenueCents: Number(row.revenueCents),
          sourceMargin: found[0].margin ?? null,
          isReadOtherwise: channelRulesDigest !== digest,
        });
    }
    return candidates;
  });
}

interface CandidateRow extends Pick<
  Candidate,
  'id' | 'revision' | 'start' | 'end' | 'conversionEvent' | 'margin' | 'askedMargin'
> {
  readonly revenueCents: string;
  readonly channelRulesDigest: string | null;
  /** With a comma between any two. */
  readonly sourceIds: string;
}

/** The row and the job in one transaction; false when the analysis has gone on by itself. */
async function beginRefresh(
  { database, jobs }: RefreshServices,
  { accountId, environment }: LateRowsJob,
  { id, revision, sourceIds }: Candidate,
): Promise<boolean> {
  const run = { id, accountId, environment, revision };
  return database.asTenant(wholeAccount(run), (em) =>
    refreshRun(em, jobs, ATTRIBUTION_RUNS, run, ({ dateStart, dateEnd }) =>
      rowsOfRun(em, sourceIds, { start: dateStart, end: dateEnd }),
    ),
  );
}
