import { dayAt, MAX_RANGE_DAYS } from '../../../../schema/day-range.ts';
import type { QualityCode } from '../../../../schema/contract/data-quality.ts';
import { ProblemError, type ProblemType } from '../../../../schema/problems.ts';
import type { FAILURE_CODES } from '../../../../schema/value-lists.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { FairTurns } from '../../../../platform/fair-turns.ts';
import { newUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { namedSources } from '../../intake/channel-rules/channel-rule-store.ts';
import type { DataSource } from '../../intake/data-sources/data-source.ts';
import { parseDateRange, type DateRange } from '../../intake/data-sources/date-range.ts';
import {
  requireSources,
  sourceIdsOf,
  sourceParam,
  sourcesParam,
  type Joined,
  type NamedSources,
} from '../../intake/data-sources/joined-sources.ts';
import { refuseUnusable, type SourceServices } from '../../intake/data-sources/require-source.ts';
import { acceptRun } from '../../runs/accept-run.ts';
import { isFinished } from '../../runs/run.ts';
import type { Attribution } from '../attributions/attribution.ts';
import type { AnalysisFigures } from '../attributions/figures.ts';
import type { SourceNow } from '../attributions/present-trust.ts';
import { refuseBlocking } from '../attributions/quality-gate.ts';
import { refuseCostlyRules, rowsOfRun } from '../attributions/run-attribution.ts';
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
export interface InsightQuestion extends NamedSources {
  /** As the caller has written it; that of the newest analysis, or all of the sources, when absent. */
  readonly dateRange?: readonly string[] | undefined;
  /** What may be wrong with the rows. */
  readonly acceptQuality?: readonly QualityCode[] | undefined;
}

/** The figures that a read stands on; null while they are computed. */
export interface InsightFigures {
  readonly dataSourceIds: Joined<Uuid>;
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
 * The figures of the newest completed causal analysis of sources and range, or of the newest run that was made for
 * reads on what is stored now. Where there is neither, such a run begins: whoever asks again finds what came of it. It
 * is neither listed nor announced, and nobody pays for it.
 * @param delayMs how much longer than need be a new run takes
 * @throws ProblemError `resource_not_found` (source), `validation_error` (codes of a bad range; `insufficient_data` and
 *   `amount_out_of_range`, which the rows of the range are to blame for; `data_quality_insufficient`),
 *   `data_source_unavailable`,
 *   `rate_limit_exceeded` / `concurrency`, `service_unavailable` where the disk is nearly full
 */
export async function figuresFor(
  services: InsightServices,
  principal: Principal,
  question: InsightQuestion,
  delayMs = 0,
): Promise<InsightFigures> {
  const standing = await standingFor(services, principal, question, delayMs);
  const quality = standing.found?.figures.dataQuality;
  if (quality !== undefined) refuseBlocking(quality, question.acceptQuality, sourcesParam(question));
  return standing;
}

async function standingFor(
  services: InsightServices,
  principal: Principal,
  question: InsightQuestion,
  delayMs: number,
): Promise<InsightFigures> {
  const { database } = services;
  const now = services.clock();
  const { dateRange } = question;
  const asked = dateRange === undefined ? null : parseDateRange(dateRange, now, principal.environment);
  const sources = await requireSources(services, principal, question);
  for (const [place, source] of sources.entries()) refuseUnusable(source, sourceParam(question, place));
  if (sources.length > 1) refuseCostlyRules(await namedSources(database, principal, sources), sourcesParam(question));
  const dataSourceIds = sources.map(({ id }) => id as Uuid) as unknown as Joined<Uuid>;
  const [dataSourceId] = dataSourceIds;
  const range = asked ?? wholeRange(sources, now);
  const key = { dataSourceIds, range };
  const standing = await database.asTenant(principal, async (em) => {
    const newest = asked === null ? await newestOfAny(em, dataSourceIds) : null;
    return newest ?? (await standingOf(em, key));
  });
  if (standing !== null) return standing;
  database.refuseWithoutRoom();
  const begun = await BEGINNINGS.take(principal.accountId);
  const begin = async (em: SqlEntityManager): Promise<InsightFigures> => {
    const store = new InsightStore(em);
    await store.lock(principal, dataSourceId);
    const meanwhile = await standingOf(em, key);
    if (meanwhile !== null) return meanwhile;
    await store.makeRoom(dataSourceId);
    const run = em.create(Insight, {
      id: newUuid(now.getTime()),
      accountId: principal.accountId as Uuid,
      dataSourceId,
      dataSourceIds: dataSourceIds.length === 1 ? null : [...dataSourceIds],
      environment: principal.environment,
      dateStart: range.start,
      dateEnd: range.end,
      ground: await store.ground(dataSourceIds),
      status: 'pending',
      createdAt: now,
    });
    const rows = await rowsOfRun(em, dataSourceIds, range);
    await acceptRun(em, services, INSIGHT_RUNS, run, { rows, delayMs });
    return { ...key, found: null };
  };
  try {
    return await database.asTenant(principal, begin);
  } finally {
    begun();
  }
}

/** Those of the newest analysis, whatever its range. */
async function newestOfAny(em: SqlEntityManager, dataSourceIds: Joined<Uuid>): Promise<InsightFigures | null> {
  const analysis = await new InsightStore(em).newestAnalysis({ dataSourceIds, range: null });
  return analysis === null ? null : figuresOf(em, analysis, publicId('attr', analysis.id));
}

/** What there is already: figures, or a run that is under way; null where one has to begin. */
async function standingOf(em: SqlEntityManager, key: RangeKey): Promise<InsightFigures | null> {
  const store = new InsightStore(em);
  const analysis = await store.newestAnalysis(key);
  const run = await store.newest(key, await store.ground(key.dataSourceIds));
  if (run?.status === 'completed' && (run.completedAt ?? 0) > (analysis?.completedAt ?? 0))
    return figuresOf(em, run, null);
  if (analysis !== null) return figuresOf(em, analysis, publicId('attr', analysis.id));
  if (run === null) return null;
  if (!isFinished(run)) return { ...key, found: null };
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
    dataSourceIds: sourceIdsOf(run),
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

/** All days of the sources up to today, as far back as a range may reach. */
function wholeRange(sources: Joined<DataSource>, now: Date): DateRange {
  const today = dayAt(now.getTime());
  const earliest = sources.flatMap(({ statistics }) => statistics?.earliest ?? []).toSorted()[0];
  const latest = sources
    .flatMap(({ statistics }) => statistics?.latest ?? [])
    .toSorted()
    .at(-1);
  const end = latest !== undefined && latest < today ? latest : today;
  const furthest = dayAt(Date.parse(end) - (MAX_RANGE_DAYS - 1) * DAY_MS);
  const start = earliest !== undefined && earliest > furthest ? earliest : furthest;
  return parseDateRange([start > end ? end : start, end], now, sources[0].environment);
}
