import { refusedForGood } from '../../../../platform/clickhouse/outage.ts';
import type { Job, Jobs } from '../../../../platform/jobs/jobs.ts';
import { throughOutages } from '../../../../platform/jobs/through-outages.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../../platform/postgres/database.ts';
import type { Logger } from '../../../../platform/telemetry/logs.ts';
import { DataSourceStore } from '../../intake/data-sources/data-source-store.ts';
import { awaitNotices, type LateRowsJob } from '../../intake/data-sources/late-rows.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';
import type { RevenueOf, RevenueQuery } from '../../intake/touchpoints/range-revenue.ts';
import { refreshRun } from '../../runs/refresh-run.ts';
import { ATTRIBUTION_RUNS } from './attribution.ts';
import { rowsOfRun } from './run-attribution.ts';

/**
 * Least relative change of the revenue in its range that an analysis is run again for: 0.1 % (decisions of the
 * contract, states).
 */
const LEAST_CHANGE = { numerator: 1, denominator: 1_000 } as const;

export interface RefreshServices {
  readonly database: Database;
  readonly jobs: Jobs;
  readonly readRevenue: (key: SourceKey, queries: readonly RevenueQuery[]) => Promise<RevenueOf>;
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
  /** Its channels were called by other rules than those in force. */
  readonly isRenamed: boolean;
}

/**
 * Looks at what the rows that a source has received change, and runs again every completed analysis with auto_refresh
 * whose revenue they have moved far enough. Safe to repeat: an analysis that is run again already is left alone, and
 * looks for later rows itself when it ends.
 */
export async function refreshAttributions(
  services: RefreshServices,
  { data: source, signal }: Pick<Job<LateRowsJob>, 'data' | 'signal'>,
): Promise<void> {
  const candidates = await throughOutages(signal, () => readCandidates(services.database, source));
  if (candidates.length === 0) return;
  const revenueOf = await throughOutages(signal, () => services.readRevenue(source, candidates)).catch(
    (error: unknown) => {
      // Each of the many attempts at this look would meet the same, and so would a run of what it finds.
      if (refusedForGood(error) === null) throw error;
      services.logger.warn(
        { err: error, dataSource: publicId('ds', source.dataSourceId) },
        'the store cannot read what late rows have changed: nothing is run again',
      );
      return null;
    },
  );
  if (revenueOf === null) return;
  for (const candidate of candidates) {
    const revenueCents = revenueOf(candidate);
    if (
      (candidate.isRenamed || hasMoved(candidate.revenueCents, revenueCents)) &&
      (await throughOutages(signal, () => beginRefresh(services, source, candidate)))
    ) {
      services.logger.info(
        { attribution: publicId('attr', candidate.id), revenueCents, previousRevenueCents: candidate.revenueCents },
        candidate.isRenamed
          ? 'channel rules have changed since an analysis: it is run again'
          : 'late rows have changed the revenue of an analysis: it is run again',
      );
    }
  }
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
    if ((await new DataSourceStore(em).find(source.dataSourceId)) === null) return [];
    const rows = await em.execute<(Omit<Candidate, 'revenueCents'> & { readonly revenueCents: string })[]>(
      `select id, revision, to_char(date_start, 'YYYY-MM-DD') as start, to_char(date_end, 'YYYY-MM-DD') as end,
        conversion_event as "conversionEvent", result ->> 'revenueCents' as "revenueCents",
              channel_rules_digest is distinct from (select s.channel_rules_digest from attribution.data_sources s
                where s.id = data_source_id) as "isRenamed"
       from attribution.attributions where data_source_id = ? and auto_refresh and status = 'completed'
         order by created_at`,
      [source.dataSourceId],
    );
    return rows.map((row) => ({ ...row, revenueCents: Number(row.revenueCents) }));
  });
}

/** The row and the job in one transaction; false when the analysis has gone on by itself. */
async function beginRefresh(
  { database, jobs }: RefreshServices,
  { accountId, environment, dataSourceId }: LateRowsJob,
  { id, revision }: Candidate,
): Promise<boolean> {
  const run = { id, accountId, environment, revision };
  return database.asTenant(wholeAccount(run), (em) =>
    refreshRun(em, jobs, ATTRIBUTION_RUNS, run, ({ dateStart, dateEnd }) =>
      rowsOfRun(em, dataSourceId, { start: dateStart, end: dateEnd }),
    ),
  );
}
