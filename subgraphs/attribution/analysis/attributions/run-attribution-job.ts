import { setTimeout as sleep } from 'node:timers/promises';
import type { ComputePool } from '../../../../compute/pool.ts';
import type { Job } from '../../../../platform/jobs/jobs.ts';
import { throughOutages } from '../../../../platform/jobs/through-outages.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../../platform/postgres/database.ts';
import type { Logger } from '../../../../platform/telemetry/logs.ts';
import type { ChannelNaming } from '../../intake/touchpoints/channel-expression.ts';
import { channelNamingOf, digestOf } from '../../intake/channel-rules/channel-rule-store.ts';
import type { DataSource, SyncSchedule } from '../../intake/data-sources/data-source.ts';
import { DataSourceStore } from '../../intake/data-sources/data-source-store.ts';
import { arrivalsOf, type Arrivals } from '../../intake/data-sources/late-rows.ts';
import { sourceDays } from '../../intake/data-sources/source-days.ts';
import { ExperimentStore } from '../experiments/experiment-store.ts';
import { measuredEffect, type MeasuredEffect } from '../experiments/range-experiments.ts';
import { AnalysisFailedError } from './analysis-failed-error.ts';
import { analyze, type RunParameters } from './analyze.ts';
import { measureEvidence, type AssessableRun, type RunProvenance } from './assess-trust.ts';
import type { Attribution, AttributionFailure } from './attribution.ts';
import { AttributionStore } from './attribution-store.ts';
import { watchCancellation } from './cancel-attribution.ts';
import { isLargeRun } from './large-run.ts';
import type { ModelOutcomes } from './compose-figures.ts';
import { completeRun, failRun, type CompletingServices, type EndingServices } from './end-attribution.ts';
import type { AnalysisFigures } from './figures.ts';
import { citationReliability } from './present-trust.ts';
import { ProgressWriter, type ProgressEvent, type RevisionRun } from './progress.ts';
import type { RunJob } from './run-attribution.ts';
import type { TrustEvidence } from './trust-evidence.ts';

/** Which rows a run reads. Dates inclusive, UTC. */
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
}

export type LoadRunData = (
  query: RunQuery,
  onStage: (stage: 'loading' | 'building_journeys') => void,
  signal: AbortSignal,
) => Promise<AssessableRun>;

export interface RunWorkerServices extends CompletingServices {
  readonly pool: ComputePool;
  readonly logger: Logger;
  readonly loadRunData: LoadRunData;
}

/**
 * Does the work of one accepted analysis, or of its refresh. Safe to run again after a worker died half-way: the
 * figures are the same bit by bit, and a row that is finished already is left alone. Stops soon after the analysis is
 * cancelled.
 */
export async function runAttributionJob(services: RunWorkerServices, job: Job<RunJob>): Promise<void> {
  const cancellation = watchCancellation(services, runOf(job.data));
  try {
    await workOn(services, job, cancellation.signal);
  } finally {
    await cancellation.stop();
  }
}

async function workOn(services: RunWorkerServices, job: Job<RunJob>, cancelled: AbortSignal): Promise<void> {
  const begun = await throughOutages(job.signal, () => begin(services, job.data));
  if (begun === null) return;
  const { source } = begun;
  const run = runOf(job.data);
  const progress = new ProgressWriter(services, run);
  const shown = begun.attribution.channels ?? null;
  try {
    if (source === null)
      throw new AnalysisFailedError({
        code: 'source_unavailable',
        message: 'The data source was deleted before the analysis began.',
      });
    const found = await compute(
      services,
      { ...job, signal: AbortSignal.any([job.signal, cancelled]) },
      { ...begun, source },
      (event) => progress.push(event.kind === 'CHANNEL_RESULT' ? { ...event, shown } : event),
    );
    progress.push({ kind: 'PROGRESS', stage: 'signing', progress: 0.98, message: 'Signing the result' });
    await progress.drain();
    await throughOutages(job.signal, () =>
      completeRun(services, run, { ...found, arrivals: begun.arrivals, channelRulesDigest: digestOf(begun.naming) }),
    );
  } catch (error) {
    // What is still being written would take the numbers of the events that follow, of another attempt or of the
    // failure.
    await progress.drain();
    // Whoever cancelled has closed the row.
    if (cancelled.aborted) return;
    // This attempt lost its worker or its claim to the job, and another attempt follows.
    if (!(error instanceof AnalysisFailedError) || error.failure.code === 'cancelled') throw error;
    await throughOutages(job.signal, () => failRun(services, run, error.failure));
  }
}

/** Ends an analysis whose job has failed in every attempt. */
export async function recordFailure(services: EndingServices, job: RunJob, failure: AttributionFailure): Promise<void> {
  await failRun(services, runOf(job), failure);
}

function runOf({ attributionId, accountId, environment, revision }: RunJob): RevisionRun {
  return { id: attributionId, accountId, environment, revision };
}

/** A run that a worker took, and what it has to know of the source; null where that was deleted. */
interface Begun {
  readonly attribution: Attribution;
  readonly source: DataSource | null;
  readonly experiments: readonly MeasuredEffect[];
  readonly recordedDays: RunProvenance['recordedDays'];
  readonly naming: ChannelNaming | undefined;
  readonly arrivals: Arrivals | null;
  readonly at: Date;
}

/** Null when the run is over, or of a revision that was made already. */
async function begin(
  services: RunWorkerServices,
  { attributionId, revision, ...tenant }: RunJob,
): Promise<Begun | null> {
  return services.database.asTenant(wholeAccount(tenant), async (em) => {
    const attribution = await new AttributionStore(em).lock(attributionId);
    if (attribution?.revisionUnderWay() !== revision) return null;
    attribution.begin();
    const source = await new DataSourceStore(em).find(attribution.dataSourceId);
    const experiments =
      attribution.model === 'causal'
        ? await new ExperimentStore(em).overlapping(attribution, {
            start: attribution.dateStart,
            end: attribution.dateEnd,
          })
        : [];
    const recordedDays = await sourceDays(em, attribution.dataSourceId);
    const naming = await channelNamingOf(em, attribution.dataSourceId);
    const arrivals = await arrivalsOf(em, attribution.dataSourceId);
    await em.flush();
    return {
      attribution,
      source,
      experiments: experiments.map(measuredEffect),
      recordedDays,
      naming,
      arrivals,
      at: services.clock(),
    };
  });
}

const SYNC_INTERVALS_S = { realtime: 0, daily: 86_400, weekly: 7 * 86_400 } as const;

function provenanceOf(source: DataSource, { recordedDays, at }: Begun): RunProvenance {
  return {
    measuredAt: at,
    recordedDays,
    lastArrival: source.lastSync ?? null,
    syncIntervalS: SYNC_INTERVALS_S[source.syncSchedule as SyncSchedule],
    citationReliability: citationReliability(source, at),
  };
}

async function compute(
  services: RunWorkerServices,
  job: Job<RunJob>,
  begun: Begun & { readonly source: DataSource },
  onProgress: (event: ProgressEvent) => void,
): Promise<{ figures: AnalysisFigures; trust: TrustEvidence | null }> {
  const { attribution, source, experiments } = begun;
  const startedMs = performance.now();
  const messages = {
    loading: [0.02, 'Reading the stored rows'],
    building_journeys: [0.1, 'Building journeys'],
  } as const;
  const query: RunQuery = {
    accountId: source.accountId,
    dataSourceId: attribution.dataSourceId,
    startDate: attribution.dateStart,
    endDate: attribution.dateEnd,
    lookbackDays: attribution.lookbackWindowDays,
    conversionEvent: attribution.conversionEvent,
    naming: begun.naming,
    now: begun.at,
    experiments,
    earliestDay: source.statistics?.earliest ?? null,
    verifiedParts: source.verifiedParts ?? null,
  };
  const announce = (stage: keyof typeof messages): void =>
    onProgress({ kind: 'PROGRESS', stage, progress: messages[stage][0], message: messages[stage][1] });
  const isSlowed = job.data.delayMs > 0;
  if (isSlowed) {
    // Before the rows are read: whoever waits should hold as little as possible.
    announce('loading');
    announce('building_journeys');
    await job.aside(() => slowDown(job, onProgress));
  }
  const data = await throughOutages(
    job.signal,
    () => services.loadRunData(query, isSlowed ? () => undefined : announce, job.signal),
    (ms) => pause(job, ms),
  );
  services.logger.info(
    {
      attribution: publicId('attr', attribution.id),
      revision: job.data.revision,
      attempt: job.attempt,
      journeys: data.totals.journeys,
    },
    'analysis started',
  );
  const parameters = parametersOf(attribution, source, begun.naming);
  const isLarge = isLargeRun(
    Math.max(data.paths.steps.length, data.events?.timeS.length ?? 0),
    data.paths.channels.length,
  );
  if (isLarge) await job.turnOutLarge();
  const pool = services.pool.of(attribution.accountId, isLarge);
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
  onProgress({ kind: 'PROGRESS', stage: 'intervals', progress: 0.92, message: 'Checking the figures' });
  try {
    const { evidence, verifiedParts } = await throughOutages(job.signal, () =>
      assess(figures, outcomes!, provenanceOf(source, begun)),
    );
    if (verifiedParts !== null) await rememberVerification(services.database, source, verifiedParts);
    return { figures, trust: evidence };
  } catch (error) {
    job.signal.throwIfAborted();
    // Figures without an envelope are worth more than none; the answer says that its trust was not measured.
    services.logger.error(
      { err: error, attribution: publicId('attr', attribution.id) },
      'the trust of an analysis could not be measured',
    );
    return { figures, trust: null };
  }
}

const SHORT_PAUSE_MS = 500;

/** Waits until the rows may be read again; for longer without a worker's place, which somebody else may have. */
async function pause({ signal, aside }: Job<RunJob>, ms: number): Promise<void> {
  const wait = async (): Promise<void> => sleep(ms, undefined, { signal });
  if (ms <= SHORT_PAUSE_MS || !(await aside(wait))) await wait();
}

const DELAY_STEP_MS = 500;

/** Takes the time that a test key asked for, in steps that whoever watches the run sees. */
async function slowDown(
  { data: { delayMs }, signal }: Job<RunJob>,
  onProgress: (event: ProgressEvent) => void,
): Promise<void> {
  const steps = Math.ceil(delayMs / DELAY_STEP_MS);
  for (let step = 1; step <= steps; step += 1) {
    await sleep(delayMs / steps, undefined, { signal });
    onProgress({
      kind: 'PROGRESS',
      stage: 'building_journeys',
      progress: 0.1 + (0.2 * step) / steps,
      message: 'Taking the time that SVC-Sandbox-Delay asks for',
    });
  }
}

/** The next run need not hash the rows again while the store stays as it is. */
async function rememberVerification(database: Database, source: DataSource, parts: string): Promise<void> {
  await database.asTenant(wholeAccount(source), (em) =>
    em.execute(`update attribution.data_sources set verified_parts = ? where id = ?`, [parts, source.id]),
  );
}

function parametersOf(attribution: Attribution, source: DataSource, naming: ChannelNaming | undefined): RunParameters {
  return {
    model: attribution.model,
    granularity: attribution.granularity,
    rangeStartS: Date.parse(attribution.dateStart) / 1000,
    rangeEndS: Date.parse(attribution.dateEnd) / 1000 + 86_400,
    lookbackS: attribution.lookbackWindowDays * 86_400,
    confidenceLevel: attribution.confidenceLevel,
    markovOrder: attribution.markovOrder,
    baselineChannels: attribution.baselineChannels ?? source.baselineChannels,
    currency: source.currency ?? 'USD',
    channelRulesDigest: digestOf(naming),
    seed: `${attribution.dataSourceId}/${attribution.dateStart}/${attribution.dateEnd}`,
  };
}
