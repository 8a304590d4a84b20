import { dayAt, MAX_RANGE_DAYS } from '../../../../schema/day-range.ts';
import { ProblemError, type ProblemType } from '../../../../schema/problems.ts';
import type { FAILURE_CODES } from '../../../../schema/value-lists.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { FairTurns } from '../../../../platform/fair-turns.ts';
import { newUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { PubSub } from '../../../../platform/postgres/pub-sub.ts';
import type { DataSource } from '../../intake/data-sources/data-source.ts';
import { parseDateRange, type DateRange } from '../../intake/data-sources/date-range.ts';
import { requireSource, type SourceServices } from '../../intake/data-sources/require-source.ts';
import { acceptRun } from '../../runs/accept-run.ts';
import { isFinished } from '../../runs/run.ts';
import type { Attribution } from '../attributions/attribution.ts';
import type { AnalysisFigures } from '../attributions/figures.ts';
import type { SourceNow } from '../attributions/present-trust.ts';
import { refuseUnusable, rowsOfRun } from '../attributions/run-attribution.ts';
import { sourcesNow } from '../attributions/source-now.ts';
import type { TrustEvidence } from '../attributions/trust-evidence.ts';
import { Insight, INSIGHT_RUNS } from './insight.ts';
import { InsightStore, type RangeKey } from './insight-store.ts';

export interface InsightServices extends SourceServices {
  readonly jobs: Jobs;
  readonly pubSub: PubSub;
  readonly clock: () => Date;
}

/** Runs of an account begin one after the other: a crowd of questions would each hold a connection to wait for that. */
const BEGINNINGS = new FairTurns({ places: 8, perTenant: 1 });

/** What a read stands on. */
export interface InsightQuestion {
  readonly dataSourceId: Uuid;
  /** As the caller has written it; null for that of the newest analysis, or all of the source. */
  readonly dateRange: readonly string[] | null;
}

/** The figures that a read stands on; null while they are computed. */
export interface InsightFigures {
  readonly range: DateRange;
  readonly found: {
    readonly figures: AnalysisFigures;
    /** Null where nothing was kept to judge them by. */
    readonly trust: TrustEvidence | null;
    readonly sourceNow: SourceNow | null;
    /** Public id of the analysis that they are of; null where a run was made for reads alone. */
    readonly attributionId: string | null;
  } | null;
}

/**
 * The figures of the newest completed causal analysis of a source and range, or of the newest run that was made for
 * reads on what is stored now. Where there is neither, such a run begins: whoever asks again finds what came of it. It
 * is neither listed nor announced, and nobody pays for it.
 * @param delayMs how much longer than need be a new run takes
 * @throws ProblemError `resource_not_found` (source), `validation_error` (codes of a bad range; `insufficient_data` and
 *   `amount_out_of_range`, which the rows of the range are to blame for), `data_source_unavailable`,
 *   `rate_limit_exceeded` / `concurrency`, `service_unavailable` where the disk is nearly full
 */
export async function figuresFor(
  services: InsightServices,
  principal: Principal,
  { dataSourceId, dateRange }: InsightQuestion,
  delayMs = 0,
): Promise<InsightFigures> {
  const { database } = services;
  const now = services.clock();
  const asked = dateRange === null ? null : parseDateRange(dateRange, now, principal.environment);
  const source = await requireSource(services, principal, dataSourceId, '/data_source_id');
  refuseUnusable(source, '/data_source_id');
  const standing = await database.asTenant(principal, async (em) => {
    const newest = asked === null ? await newestOfAny(em, dataSourceId) : null;
    return newest ?? (await standingOf(em, { dataSourceId, range: asked ?? wholeRange(source, now) }));
  });
  if (standing !== null) return standing;
  const range = asked ?? wholeRange(source, now);
  database.refuseWithoutRoom();
  const begun = await BEGINNINGS.take(principal.accountId);
  const begin = async (em: SqlEntityManager): Promise<InsightFigures> => {
    const store = new InsightStore(em);
    await store.lock(principal, dataSourceId);
    const meanwhile = await standingOf(em, { dataSourceId, range });
    if (meanwhile !== null) return meanwhile;
    await store.makeRoom(dataSourceId);
    const run = em.create(Insight, {
      id: newUuid(now.getTime()),
      accountId: principal.accountId as Uuid,
      dataSourceId,
      environment: principal.environment,
      dateStart: range.start,
      dateEnd: range.end,
      ground: await store.ground(dataSourceId),
      status: 'pending',
      createdAt: now,
    });
    const rows = await rowsOfRun(em, [dataSourceId], range);
    await acceptRun(em, services, INSIGHT_RUNS, run, { rows, delayMs });
    return { range, found: null };
  };
  try {
    return await database.asTenant(principal, begin);
  } finally {
    begun();
  }
}

/** Those of the newest analysis, whatever its range. */
async function newestOfAny(em: SqlEntityManager, dataSourceId: Uuid): Promise<InsightFigures | null> {
  const analysis = await new InsightStore(em).newestAnalysis({ dataSourceId, range: null });
  return analysis === null ? null : figuresOf(em, analysis, publicId('attr', analysis.id));
}

/** What there is already: figures, or a run that is under way; null where one has to begin. */
async function standingOf(em: SqlEntityManager, key: RangeKey): Promise<InsightFigures | null> {
  const store = new InsightStore(em);
  const analysis = await store.newestAnalysis(key);
  const run = await store.newest(key, await store.ground(key.dataSourceId));
  if (run?.status === 'completed' && (run.completedAt ?? 0) > (analysis?.completedAt ?? 0))
    return figuresOf(em, run, null);
  if (analysis !== null) return figuresOf(em, analysis, publicId('attr', analysis.id));
  if (run === null) return null;
  if (!isFinished(run)) return { range: rangeOf(run), found: null };
  if (run.failure?.code === 'internal') return null;
  throw failed(run);
}

async function figuresOf(
  em: SqlEntityManager,
  run: Insight | Attribution,
  attributionId: string | null,
): Promise<InsightFigures> {
  const sourceNow = (await sourcesNow(em, [run])).get(run.id) ?? null;
  return {
    range: rangeOf(run),
    found: { figures: run.result!, trust: run.trust ?? null, sourceNow, attributionId },
  };
}

const rangeOf = ({ dateStart, dateEnd }: Pick<Insight, 'dateStart' | 'dateEnd'>): DateRange => ({
  start: dateStart,
  end: dateEnd,
});

/** What a failed run is as a problem: on the same rows, another one would find the same. */
const FAILURES = {
  insufficient_data: 'validation_error',
  amount_out_of_range: 'validation_error',
  data_quality_insufficient: 'validation_error',
  source_unavailable: 'data_source_unavailable',
  cancelled: 'conflict',
  internal: 'internal_error',
} as const satisfies Readonly<Record<(typeof FAILURE_CODES)[number], ProblemType>>;
/** Failures that another range would have, too. */
const OF_SOURCE: ReadonlySet<string> = new Set(['data_quality_insufficient', 'source_unavailable']);

function failed({ failure }: Insight): ProblemError {
  const { code = 'internal', message = 'The run failed.' } = failure ?? {};
  return new ProblemError(FAILURES[code], message, {
    code,
    param: OF_SOURCE.has(code) ? '/data_source_id' : '/date_range',
  });
}

const DAY_MS = 86_400_000;

/** All days of a source up to today, as far back as a range may reach. */
function wholeRange({ statistics, environment }: DataSource, now: Date): DateRange {
  const today = dayAt(now.getTime());
  const { earliest, latest } = statistics ?? {};
  const end = latest != null && latest < today ? latest : today;
  const furthest = dayAt(Date.parse(end) - (MAX_RANGE_DAYS - 1) * DAY_MS);
  const start = earliest != null && earliest > furthest ? earliest : furthest;
  return parseDateRange([start > end ? end : start, end], now, environment);
}
