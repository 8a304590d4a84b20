import type { ComputePool } from '../../../../compute/pool.ts';
import type { Job } from '../../../../platform/jobs/jobs.ts';
import { throughOutages } from '../../../../platform/jobs/through-outages.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { Logger } from '../../../../platform/telemetry/logs.ts';
import { pause, slowDown } from '../../runs/pauses.ts';
import { RunFailedError } from '../../runs/run-failed-error.ts';
import type { RunJob } from '../../runs/run-queues.ts';
import type { ChannelNaming } from '../../intake/touchpoints/channel-expression.ts';
import { channelNamingOf, digestOf } from '../../intake/channel-rules/channel-rule-store.ts';
import type { DataSource, SyncSchedule } from '../../intake/data-sources/data-source.ts';
import { DataSourceStore } from '../../intake/data-sources/data-source-store.ts';
import type { QualityContext } from '../../intake/quality/measure-quality.ts';
import { uploadsWithFindings } from '../../intake/quality/upload-quality.ts';
import { arrivalsOf, type Arrivals } from '../../intake/data-sources/late-rows.ts';
import { sourceDays } from '../../intake/data-sources/source-days.ts';
import { ExperimentStore } from '../experiments/experiment-store.ts';
import { measuredEffect, type MeasuredEffect } from '../experiments/range-experiments.ts';
import { analyze, type RunParameters } from './analyze.ts';
import { measureEvidence, type AssessableRun, type RunProvenance } from './assess-trust.ts';
import type { Attribution } from './attribution.ts';
import { stage, type ProgressEvent } from './attribution-progress.ts';
import type { ModelOutcomes } from './compose-figures.ts';
import type { AnalysisFigures } from './figures.ts';
import { isLargeRun } from './large-run.ts';
import { citationReliability } from './present-trust.ts';
import type { TrustEvidence } from './trust-evidence.ts';

/** What is asked, whatever the kind of run that answers it. */
export type AskedAnalysis = Pick<
  Attribution,
  | 'accountId'
  | 'environment'
  | 'dataSourceId'
  | 'model'
  | 'dateStart'
  | 'dateEnd'
  | 'granularity'
  | 'baselineChannels'
  | 'lookbackWindowDays'
  | 'conversionEvent'
  | 'confidenceLevel'
  | 'markovOrder'
> &
  Partial<Pick<Attribution, 'acceptQuality'>>;

/** Which rows an analysis reads. Dates inclusive, UTC. */
export interface RunQuery {
  readonly accountId: Uuid;
  readonly dataSourceId: Uuid;
  readonly startDate: string;
  readonly endDate: string;
  readonly lookbackDays: number;
  readonly conversionEvent: string;
  /** How channels are called, by the rules that were in force when the run began. */
  readonly naming?: ChannelNaming | undefined;
  /** When the run began: days that lie far ahead of it are none of the source. */
  readonly now: Date;
  /** Results of experiments that share days with the range; none where absent. */
  readonly experiments?: readonly MeasuredEffect[];
  /** First day of which the source has rows. */
  readonly earliestDay?: string | null;
  /** State of the store in which the source's rows were last found to be those on record. */
  readonly verifiedParts?: string | null;
  /** What the quality of the rows is judged by; it is not measured where absent. */
  readonly quality?: QualityContext;
}

export type LoadRunData = (
  query: RunQuery,
  onStage: (stage: 'loading' | 'building_journeys') => void,
  signal: AbortSignal,
) => Promise<AssessableRun>;

export interface ComputingServices {
  readonly database: Database;
  readonly pool: ComputePool;
  readonly logger: Logger;
  readonly loadRunData: LoadRunData;
}

/** What a run has to know of its source, as it was when a worker took the run. */
export interface AnalysisInput {
  readonly source: DataSource;
  readonly experiments: readonly MeasuredEffect[];
  readonly recordedDays: RunProvenance['recordedDays'];
  readonly naming: ChannelNaming | undefined;
  /** At the source, before the run read its first row. */
  readonly arrivals: Arrivals | null;
  readonly uploads: QualityContext['uploads'];
  readonly at: Date;
}

/** @throws RunFailedError where the source is gone */
export async function loadAnalysisInput(em: SqlEntityManager, asked: AskedAnalysis, at: Date): Promise<AnalysisInput> {
  const { dataSourceId, model, dateStart: start, dateEnd: end } = asked;
  const source = await new DataSourceStore(em).find(dataSourceId);
  if (source === null)
    throw new RunFailedError({
      code: 'source_unavailable',
      message: 'The data source was deleted before the analysis began.',
    });
  const experiments = model === 'causal' ? await new ExperimentStore(em).overlapping(asked, { start, end }) : [];
  return {
    source,
    experiments: experiments.map(measuredEffect),
    recordedDays: await sourceDays(em, dataSourceId),
    naming: await channelNamingOf(em, dataSourceId),
    arrivals: await arrivalsOf(em, dataSourceId),
    uploads: await uploadsWithFindings(em, dataSourceId, [start, end]),
    at,
  };
}

const READING = {
  loading: stage('loading', 0.02, 'Reading the stored rows'),
  building_journeys: stage('building_journeys', 0.1, 'Building journeys'),
} as const;

const SYNC_INTERVALS_S = { realtime: 0, daily: 86_400, weekly: 7 * 86_400 } as const;

function provenanceOf({ source, recordedDays, at }: AnalysisInput): RunProvenance {
  return {
    measuredAt: at,
    recordedDays,
    lastArrival: source.lastSync ?? null,
    syncIntervalS: SYNC_INTERVALS_S[source.syncSchedule as SyncSchedule],
    citationReliability: citationReliability(source, at),
  };
}

/**
 * The figures, and how far they can be trusted; the same bit by bit, whichever worker makes them.
 * @param named the run, for the log
 * @throws RunFailedError where another attempt would meet the same
 */
export async function computeAnalysis(
  services: ComputingServices,
  job: Job<RunJob>,
  named: Readonly<Record<string, string>>,
  asked: AskedAnalysis,
  input: AnalysisInput,
  onProgress: (event: ProgressEvent) => void,
): Promise<{ readonly figures: AnalysisFigures; readonly trust: TrustEvidence | null }> {
  const { source, experiments, naming, uploads, at } = input;
  const parameters = parametersOf(asked, source, naming);
  const startedMs = performance.now();
  const query: RunQuery = {
    accountId: source.accountId,
    dataSourceId: asked.dataSourceId,
    startDate: asked.dateStart,
    endDate: asked.dateEnd,
    lookbackDays: asked.lookbackWindowDays,
    conversionEvent: asked.conversionEvent,
    naming,
    now: at,
    experiments,
    earliestDay: source.statistics?.earliest ?? null,
    verifiedParts: source.verifiedParts ?? null,
    quality: { uploads, currency: parameters.currency, baselineChannels: parameters.baselineChannels },
  };
  const announce = (name: keyof typeof READING): void => onProgress(READING[name]);
  const isSlowed = job.data.delayMs > 0;
  if (isSlowed) {
    // Before the rows are read: whoever waits should hold as little as possible.
    announce('loading');
    announce('building_journeys');
    await slowDown(job, READING.building_journeys, onProgress);
  }
  const data = await throughOutages(
    job.signal,
    () => services.loadRunData(query, isSlowed ? () => undefined : announce, job.signal),
    (ms) => pause(job, ms),
  );
  services.logger.info(
    {
      ...named,
      revision: job.data.revision,
      attempt: job.attempt,
      journeys: data.totals.journeys,
    },
    'analysis started',
  );
  const isLarge = isLargeRun(
    Math.max(data.paths.steps.length, data.events?.timeS.length ?? 0),
    data.paths.channels.length,
  );
  if (isLarge) await job.turnOutLarge();
  const pool = services.pool.of(asked.accountId, isLarge);
  let outcomes: ModelOutcomes | undefined;
  const analysis = analyze(data, parameters, {
    pool,
    onProgress,
    signal: job.signal,
    clockMs: () => performance.now(),
    startedMs,
    onOutcomes: (all) => (outcomes = all),
  });
  const assess = measureEvidence(data, parameters, { pool, signal: job.signal });
  const figures = await analysis;
  onProgress(stage('intervals', 0.92, 'Checking the figures'));
  try {
    const { evidence, verifiedParts } = await throughOutages(job.signal, () =>
      assess(figures, outcomes!, provenanceOf(input)),
    );
    if (verifiedParts !== null) await rememberVerification(services.database, source, verifiedParts);
    return { figures, trust: evidence };
  } catch (error) {
    job.signal.throwIfAborted();
    // Figures without an envelope are worth more than none; the answer says that its trust was not measured.
    services.logger.error({ err: error, ...named }, 'the trust of an analysis could not be measured');
    return { figures, trust: null };
  }
}

/** The next run need not hash the rows again while the store stays as it is. */
async function rememberVerification(database: Database, source: DataSource, parts: string): Promise<void> {
  await database.asTenant(wholeAccount(source), (em) =>
    em.execute(`update attribution.data_sources set verified_parts = ? where id = ?`, [parts, source.id]),
  );
}

function parametersOf(asked: AskedAnalysis, source: DataSource, naming: ChannelNaming | undefined): RunParameters {
  return {
    model: asked.model,
    granularity: asked.granularity,
    rangeStartS: Date.parse(asked.dateStart) / 1000,
    rangeEndS: Date.parse(asked.dateEnd) / 1000 + 86_400,
    lookbackS: asked.lookbackWindowDays * 86_400,
    confidenceLevel: asked.confidenceLevel,
    markovOrder: asked.markovOrder,
    baselineChannels: asked.baselineChannels ?? source.baselineChannels,
    currency: source.currency ?? 'USD',
    channelRulesDigest: digestOf(naming),
    acceptQuality: asked.acceptQuality ?? [],
    seed: `${asked.dataSourceId}/${asked.dateStart}/${asked.dateEnd}`,
  };
}
