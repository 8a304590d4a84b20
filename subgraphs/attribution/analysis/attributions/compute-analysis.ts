import type { ComputePool } from '../../../../compute/pool.ts';
import type { Job } from '../../../../platform/jobs/jobs.ts';
import { throughOutages } from '../../../../platform/jobs/through-outages.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { Logger } from '../../../../platform/telemetry/logs.ts';
import { pause, slowDown } from '../../runs/pauses.ts';
import { RunFailedError } from '../../runs/run-failed-error.ts';
import type { RunJob } from '../../runs/run-queues.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';
import { joinedParts, partsOfEach } from '../../intake/touchpoints/stored-days.ts';
import { namedKey } from '../../intake/channel-rules/channel-rule-store.ts';
import type { DataSource, SyncSchedule } from '../../intake/data-sources/data-source.ts';
import {
  findSources,
  joinedCurrency,
  readingDigest,
  sourceIdsOf,
  type Joined,
} from '../../intake/data-sources/joined-sources.ts';
import type { QualityContext } from '../../intake/quality/measure-quality.ts';
import { uploadsWithFindings } from '../../intake/quality/upload-quality.ts';
import { arrivalsOf, type Arrivals } from '../../intake/data-sources/late-rows.ts';
import { joinedDays, sourceDays } from '../../intake/data-sources/source-days.ts';
import { ExperimentStore } from '../experiments/experiment-store.ts';
import { measuredEffect, type MeasuredEffect } from '../experiments/range-experiments.ts';
import { analyze, type RunParameters } from './analyze.ts';
import { measureEvidence, type AssessableRun, type RunProvenance } from './assess-trust.ts';
import type { Attribution } from './attribution.ts';
import { stage, type ProgressEvent } from './attribution-progress.ts';
import type { ModelOutcomes } from './compose-figures.ts';
import type { AnalysisFigures } from './figures.ts';
import { isLargeRun } from './large-run.ts';
import { statedMargin } from './profitability.ts';
import { citationReliability } from './present-trust.ts';
import { asOneSource } from './source-now.ts';
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
  Partial<Pick<Attribution, 'acceptQuality' | 'dataSourceIds' | 'margin'>>;

/** Which rows an analysis reads. Dates inclusive, UTC. */
export interface RunQuery extends SourceKey {
  readonly startDate: string;
  readonly endDate: string;
  readonly lookbackDays: number;
  readonly conversionEvent: string;
  /** When the run began: days that lie far ahead of it are none of the source. */
  readonly now: Date;
  /** Results of experiments that share days with the range; none where absent. */
  readonly experiments?: readonly MeasuredEffect[];
  /** First day of which the sources have rows. */
  readonly earliestDay?: string | null;
  /** State of the store in which the sources' rows were last found to be those on record. */
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

/** What a run has to know of its sources, as they were when a worker took the run. */
export interface AnalysisInput {
  readonly sources: Joined<DataSource>;
  /** Their channels are called by the rules that are in force now. */
  readonly key: SourceKey;
  readonly experiments: readonly MeasuredEffect[];
  readonly recordedDays: RunProvenance['recordedDays'];
  /** At the sources, before the run read its first row. */
  readonly arrivals: Arrivals | null;
  readonly uploads: QualityContext['uploads'];
  readonly at: Date;
}

/** @throws RunFailedError where a source is gone */
export async function loadAnalysisInput(em: SqlEntityManager, asked: AskedAnalysis, at: Date): Promise<AnalysisInput> {
  const { model, environment, dateStart: start, dateEnd: end } = asked;
  const ids = sourceIdsOf(asked);
  const sources = await findSources(em, ids);
  if (sources === null)
    throw new RunFailedError({
      code: 'source_unavailable',
      message:
        ids.length === 1
          ? 'The data source was deleted before the analysis began.'
          : 'One of the data sources was deleted before the analysis began. Ask again without it.',
    });
  const experiments =
    model === 'causal' ? await new ExperimentStore(em).overlapping({ ids, environment }, { start, end }) : [];
  const recorded = [];
  for (const id of ids) recorded.push(await sourceDays(em, id));
  return {
    sources,
    key: await namedKey(em, sources),
    experiments: experiments.map(measuredEffect),
    recordedDays: joinedDays(recorded),
    arrivals: await arrivalsOf(em, ids),
    uploads: await uploadsWithFindings(em, ids, [start, end]),
    at,
  };
}

const READING = {
  loading: stage('loading', 0.02, 'Reading the stored rows'),
  building_journeys: stage('building_journeys', 0.1, 'Building journeys'),
} as const;

const SYNC_INTERVALS_S = { realtime: 0, daily: 86_400, weekly: 7 * 86_400 } as const;

function provenanceOf({ sources, recordedDays, at }: AnalysisInput): RunProvenance {
  const arrivals = sources.flatMap(({ lastSync }) => lastSync ?? []).toSorted((a, b) => b.getTime() - a.getTime());
  return {
    measuredAt: at,
    recordedDays,
    lastArrival: arrivals[0] ?? null,
    syncIntervalS: Math.max(...sources.map(({ syncSchedule }) => SYNC_INTERVALS_S[syncSchedule as SyncSchedule])),
    citationReliability: citationReliability(asOneSource(sources)!, at),
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
  const { sources, key, experiments, uploads, at } = input;
  const parameters = parametersOf(asked, sources);
  const startedMs = performance.now();
  const query: RunQuery = {
    ...key,
    startDate: asked.dateStart,
    endDate: asked.dateEnd,
    lookbackDays: asked.lookbackWindowDays,
    conversionEvent: asked.conversionEvent,
    now: at,
    experiments,
    earliestDay: sources.flatMap(({ statistics }) => statistics?.earliest ?? []).toSorted()[0] ?? null,
    verifiedParts: joinedParts(sources.map(({ verifiedParts }) => verifiedParts)),
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
    if (verifiedParts !== null) await rememberVerification(services.database, sources, verifiedParts);
    return { figures, trust: evidence };
  } catch (error) {
    job.signal.throwIfAborted();
    // Figures without an envelope are worth more than none; the answer says that its trust was not measured.
    services.logger.error({ err: error, ...named }, 'the trust of an analysis could not be measured');
    return { figures, trust: null };
  }
}

/** The next run need not hash the rows again while the store stays as it is. */
async function rememberVerification(database: Database, sources: Joined<DataSource>, joined: string): Promise<void> {
  const parts = partsOfEach(joined);
  for (const [place, source] of sources.entries())
    await database.asTenant(wholeAccount(source), (em) =>
      em.execute(`update attribution.data_sources set verified_parts = ? where id = ?`, [parts[place], source.id]),
    );
}

function parametersOf(asked: AskedAnalysis, sources: Joined<DataSource>): RunParameters {
  const margin = statedMargin(asked.margin, sources[0].margin);
  return {
    model: asked.model,
    granularity: asked.granularity,
    rangeStartS: Date.parse(asked.dateStart) / 1000,
    rangeEndS: Date.parse(asked.dateEnd) / 1000 + 86_400,
    lookbackS: asked.lookbackWindowDays * 86_400,
    confidenceLevel: asked.confidenceLevel,
    markovOrder: asked.markovOrder,
    baselineChannels: asked.baselineChannels ?? sources[0].baselineChannels,
    currency: joinedCurrency(sources),
    channelRulesDigest: readingDigest(sources),
    ...(margin !== null && { margin }),
    acceptQuality: asked.acceptQuality ?? [],
    seed: `${sourceIdsOf(asked).join('+')}/${asked.dateStart}/${asked.dateEnd}`,
  };
}
