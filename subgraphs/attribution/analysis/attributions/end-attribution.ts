import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../../platform/postgres/database.ts';
import { noticeRowsSince, type Arrivals } from '../../intake/data-sources/late-rows.ts';
import { announceCompletion, announceRevision, type AnnouncingServices } from './announce-attribution.ts';
import type { Attribution, AttributionFailure } from './attribution.ts';
import { AttributionStore } from './attribution-store.ts';
import type { AnalysisFigures } from './figures.ts';
import { appendProgress, type ProgressEvent, type RevisionRun } from './progress.ts';
import type { TrustEvidence } from './trust-evidence.ts';

/** What ending an analysis takes. */
export interface EndingServices extends AnnouncingServices {
  readonly database: Database;
}

export interface CompletingServices extends EndingServices {
  readonly jobs: Jobs;
  /** Vouches for a completed row, inside the transaction that completes it. */
  readonly signResult: (em: SqlEntityManager, completed: Attribution) => Promise<string>;
}

/** What a run has found. */
export interface RunFindings {
  readonly figures: AnalysisFigures;
  readonly trust: TrustEvidence | null;
  /** At the source, before the run read its first row. */
  readonly arrivals: Arrivals | null;
  /** Of the rules that the run followed; null for none. */
  readonly channelRulesDigest: string | null;
}

/**
 * Completes a run with its figures, signature, last progress event and event, all or nothing. A run that is over is
 * left alone.
 */
export async function completeRun(
  services: CompletingServices,
  run: RevisionRun,
  { figures, trust, arrivals, channelRulesDigest }: RunFindings,
): Promise<void> {
  await endRun(services, run, async (row, em) => {
    const previous = row.result ?? null;
    row.complete(figures, trust, services.clock());
    row.channelRulesDigest = channelRulesDigest;
    row.sign(await services.signResult(em, row));
    await tell(em, services, row, { kind: 'RESULT' });
    if (previous === null) await announceCompletion(em, services, row);
    else await announceRevision(em, services, row, previous.deltaRCents);
    // Rows that came during the run, and rules that changed, were noticed while nobody could act on them.
    if (row.autoRefresh) await noticeRowsSince(em, services.jobs, row, arrivals);
  });
}

/**
 * Ends a run without figures; also what happens when every attempt of its job has failed. A refresh that fails leaves
 * the last revision.
 */
export async function failRun(services: EndingServices, run: RevisionRun, failure: AttributionFailure): Promise<void> {
  await endRun(services, run, async (row, em) => {
    if (!row.isRefreshing()) return failAnalysis(em, services, row, failure);
    row.keepRevision();
    await tell(em, services, row, { kind: 'RESULT' });
  });
}

/** Fails a locked analysis that has no figures, in the caller's transaction. */
export async function failAnalysis(
  em: SqlEntityManager,
  services: AnnouncingServices,
  row: Attribution,
  failure: AttributionFailure,
): Promise<void> {
  row.fail(failure, services.clock());
  await tell(em, services, row, { kind: 'ERROR', failure });
  await announceCompletion(em, services, row);
}

async function endRun(
  services: EndingServices,
  run: RevisionRun,
  end: (row: Attribution, em: SqlEntityManager) => Promise<void>,
): Promise<void> {
  await services.database.asTenant(wholeAccount(run), async (em) => {
    const row = await new AttributionStore(em).lock(run.id);
    if (row?.revisionUnderWay() === run.revision) await end(row, em);
  });
}

async function tell(
  em: SqlEntityManager,
  { pubSub }: AnnouncingServices,
  row: Attribution,
  event: ProgressEvent,
): Promise<void> {
  await em.flush();
  await appendProgress(em, pubSub, row, [event]);
}
