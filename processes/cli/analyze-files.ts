import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createComputePool } from '../../compute/pool.ts';
import { connectClickHouse, type ClickHouse } from '../../platform/clickhouse/client.ts';
import { startEmbeddedClickHouse } from '../../platform/clickhouse/embedded-server.ts';
import { newUuid, type Uuid } from '../../platform/identifiers.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import type { ChannelRule } from '../../schema/contract/channel-rules.ts';
import type { DataQuality, QualityCode } from '../../schema/contract/data-quality.ts';
import { dayAt, EARLIEST_DAY, MAX_AHEAD_MS } from '../../schema/day-range.ts';
import { RunFailedError } from '../../subgraphs/attribution/runs/run-failed-error.ts';
import { assertAmountsInRange } from '../../subgraphs/attribution/analysis/attributions/amount-range.ts';
import { analyze, type RunParameters } from '../../subgraphs/attribution/analysis/attributions/analyze.ts';
import { measureEvidence } from '../../subgraphs/attribution/analysis/attributions/assess-trust.ts';
import type { ModelOutcomes } from '../../subgraphs/attribution/analysis/attributions/compose-figures.ts';
import type { AttributionModel, Granularity } from '../../subgraphs/attribution/analysis/attributions/attribution.ts';
import { loadRunData } from '../../subgraphs/attribution/analysis/attributions/load-run-data.ts';
import { statedMargin } from '../../subgraphs/attribution/analysis/attributions/profitability.ts';
import { refusals, sentenceOf } from '../../subgraphs/attribution/analysis/attributions/quality-gate.ts';
import { regexCheck } from '../../subgraphs/attribution/intake/channel-rules/set-channel-rules.ts';
import type { SourceKey } from '../../subgraphs/attribution/intake/touchpoints/source-key.ts';
import { DEFAULT_BASELINE_CHANNELS } from '../../subgraphs/attribution/intake/data-sources/data-source.ts';
import type { MeasuredEffect } from '../../subgraphs/attribution/analysis/experiments/range-experiments.ts';
import { migrateColumnarTables } from '../../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import { spendOutside } from '../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { partsDigest } from '../../subgraphs/attribution/intake/touchpoints/stored-days.ts';
import { ReadingRoom } from '../../subgraphs/attribution/intake/files/reading-room.ts';
import type { AttributionReport } from '../../report/attribution-report.ts';
import { numberFormat } from '../../report/number-format.ts';
import { printable } from '../../report/terminal-text.ts';
import { BadInputError } from './bad-input-error.ts';
import type { CommandProgress } from './command-progress.ts';
import { ingestFiles, type Ingested, type IngestedFile, type Stores } from './ingest-files.ts';
import { reportOfFigures } from '../../subgraphs/attribution/analysis/reports/report-of-figures.ts';
import { trustOfFiles } from './trust-of-files.ts';

export interface AnalyzeRequest {
  readonly files: readonly IngestedFile[];
  readonly model: AttributionModel;
  /** `YYYY-MM-DD`, inclusive; null = where the data begins or ends. */
  readonly from: string | null;
  readonly to: string | null;
  /** Null = what suits the length of the range. */
  readonly granularity: Granularity | null;
  readonly lookbackDays: number;
  readonly markovOrder: number;
  readonly confidenceLevel: number;
  /** null = the usual ones. */
  readonly baselineChannels: readonly string[] | null;
  /** Share of revenue left after the cost of goods; null = by the orders, if they say it. */
  readonly margin: number | null;
  /** What channels are to be called; none as the files call them. */
  readonly channelRules: readonly ChannelRule[];
  /** Results of experiments that calibrate the causal model. */
  readonly experiments: readonly MeasuredEffect[];
  /** What may be wrong with the rows. */
  readonly acceptQuality: readonly QualityCode[];
}

export interface AnalyzeServices {
  readonly progress: CommandProgress;
  readonly signal: AbortSignal;
  readonly now: Date;
}

/** Parts of the whole that the steps take on a large input, as positions on the progress bar. */
const PROGRESS = { start: 0, ingest: 0.05, journeys: 0.6, models: 0.7 } as const;

/**
 * Analyses files without a server: a columnar engine in a temporary directory, the same ingest, journeys and models
 * as the service, and nothing left behind.
 * @throws BadInputError for what the user can mend, the signal's reason after an interruption.
 */
export async function analyzeFiles(request: AnalyzeRequest, services: AnalyzeServices): Promise<AttributionReport> {
  const logger = createLogger({ level: 'fatal', format: 'json', destination: process.stderr });
  services.progress.at(PROGRESS.start, 'Starting the engine');
  const dataDir = await mkdtemp(join(tmpdir(), 'liftgraph-'));
  const closers: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  try {
    const engine = await startEmbeddedClickHouse({ dataDir, logger });
    closers.push(() => engine.stop());
    const clickhouse = connectClickHouse({ url: engine.url, database: 'liftgraph', logger });
    closers.push(() => clickhouse.close());
    await migrateColumnarTables(clickhouse);
    const room = new ReadingRoom({ folder: join(dataDir, 'uploads') });
    closers.push(() => room.close());
    return await runOn({ clickhouse, room }, request, services, closers);
  } catch (error) {
    services.signal.throwIfAborted();
    if (error instanceof RunFailedError) throw new BadInputError(error.failure.message, { cause: error });
    throw error;
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

/** The engine knows what it compiles. */
async function refuseInvalidRegexes(clickhouse: ClickHouse, accountId: Uuid, rules: readonly ChannelRule[]) {
  const isRegex = regexCheck(clickhouse);
  for (const [place, { match }] of rules.entries())
    if (match.campaignRegex !== undefined && !(await isRegex(accountId, match.campaignRegex)))
      throw new BadInputError(`--channel-rules: rules.${place}: campaign_regex is not a regular expression of RE2.`);
}

async function runOn(
  stores: Stores,
  request: AnalyzeRequest,
  services: AnalyzeServices,
  closers: (() => Promise<unknown>)[],
): Promise<AttributionReport> {
  const { progress, signal, now } = services;
  const { clickhouse } = stores;
  const stored = { accountId: newUuid(now.getTime()), dataSourceId: newUuid(now.getTime()) };
  await refuseInvalidRegexes(clickhouse, stored.accountId, request.channelRules);
  const ingested = await ingestFiles(stores, stored, request.files, {
    ...services,
    onShare: (share, file) =>
      progress.at(PROGRESS.ingest + (PROGRESS.journeys - PROGRESS.ingest) * share, `Reading ${printable(file)}`),
  });
  signal.throwIfAborted();

  const { channelRules: rules } = request;
  const source: SourceKey = { ...stored, ...(rules.length > 0 && { naming: { rules } }) };
  const startedMs = performance.now();
  progress.at(PROGRESS.journeys, 'Building journeys');
  const dateRange = rangeOf(request, ingested, now);
  const granularity = request.granularity ?? granularityOf(dateRange);
  const currency = ingested.currency ?? 'USD';
  const baselineChannels = request.baselineChannels ?? DEFAULT_BASELINE_CHANNELS;
  const margin = statedMargin(request.margin, null);
  const data = await loadRunData(clickhouse)(
    {
      ...source,
      startDate: dateRange[0],
      endDate: dateRange[1],
      lookbackDays: request.lookbackDays,
      conversionEvent: 'purchase',
      now,
      experiments: request.experiments,
      earliestDay: ingested.days?.[0] ?? null,
      verifiedParts: await partsDigest(clickhouse, source),
      quality: { uploads: ingested.uploads, currency, baselineChannels },
    },
    () => undefined,
    signal,
  );
  signal.throwIfAborted();
  assertAmountsInRange(data);
  const outside = await spendOutside(clickhouse, source, dateRange);
  const warnings = [...ingested.warnings, ...(outside > 0 ? [outsideWarning(outside, currency, dateRange)] : [])];
  refuseBadFiles(data.quality, request.acceptQuality);

  progress.at(PROGRESS.models, 'Running the models');
  const pool = createComputePool();
  closers.push(() => pool.close());
  const parameters: RunParameters = {
    model: request.model,
    granularity,
    rangeStartS: Date.parse(dateRange[0]) / 1000,
    rangeEndS: Date.parse(dateRange[1]) / 1000 + 86_400,
    lookbackS: request.lookbackDays * 86_400,
    confidenceLevel: request.confidenceLevel,
    markovOrder: request.markovOrder,
    baselineChannels,
    currency,
    ...(margin !== null && { margin }),
    acceptQuality: request.acceptQuality,
    seed: `${ingested.digest}/${dateRange.join('/')}`,
  };
  let outcomes: ModelOutcomes | undefined;
  const analysis = analyze({ ...data, warnings: [...warnings, ...(data.warnings ?? [])] }, parameters, {
    pool,
    signal,
    clockMs: () => performance.now(),
    startedMs,
    onOutcomes: (all) => (outcomes = all),
    onProgress: (event) => {
      if (event.kind === 'PROGRESS')
        progress.at(PROGRESS.models + (1 - PROGRESS.models) * event.progress, event.message);
    },
  });
  const assess = measureEvidence(data, parameters, { pool, signal });
  const figures = await analysis;
  progress.at(0.97, 'Checking the figures');
  const { evidence } = await assess(figures, outcomes!, {
    measuredAt: now,
    recordedDays: [],
    lastArrival: now,
    syncIntervalS: 0,
    citationReliability: 0,
  });
  return reportOfFigures(figures, {
    model: request.model,
    granularity,
    dateRange,
    lookbackDays: request.lookbackDays,
    confidenceLevel: request.confidenceLevel,
    createdAt: now,
    trust: trustOfFiles(evidence, figures, now),
  });
}

/** The range is that of touches and orders: what was spent on other days is held against nothing. */
function outsideWarning(spend: number, currency: string, [from, to]: readonly [string, string]): string {
  return (
    `${numberFormat(currency).money(spend)} of spend lies on days before ${from} or after ${to} and is left out. The ` +
    'range is that of --from and --to, else that of touches and orders.'
  );
}

/** @throws BadInputError for what is blocking and was not accepted, with the option that goes on all the same */
function refuseBadFiles(quality: DataQuality | undefined, accepted: readonly QualityCode[]): void {
  const refused = refusals(quality, accepted);
  if (refused.length > 0)
    throw new BadInputError(
      `${sentenceOf(refused)} To go on all the same: --accept-quality ${refused.map(({ code }) => code).join(',')}`,
    );
}

/** About as many periods as a chart can show. */
function granularityOf([from, to]: readonly [string, string]): Granularity {
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
  return days <= 45 ? 'daily' : days <= 400 ? 'weekly' : 'monthly';
}

/**
 * The range asked for; where an end is left open, the data's own, as far as a row may be dated. Undated paths know no
 * days: then it is today.
 */
function rangeOf({ from, to }: AnalyzeRequest, { days }: Ingested, now: Date): readonly [string, string] {
  const [first, last] = [EARLIEST_DAY, dayAt(now.getTime() + MAX_AHEAD_MS)];
  for (const [name, day] of [
    ['--from', from],
    ['--to', to],
  ] as const) {
    if (day !== null && (day < first || day > last))
      throw new BadInputError(`${name} ${day}: rows lie between ${first} and ${last}. Choose a day in between.`);
  }
  const today = dayAt(now.getTime());
  const within = (day: string): string => (day < first ? first : day > last ? last : day);
  const [earliest, latest] = days?.map(within) ?? [from ?? to ?? today, to ?? from ?? today];
  const range = [from ?? earliest!, to ?? latest!] as const;
  if (range[0] > range[1])
    throw new BadInputError(
      `The data reaches from ${earliest} to ${latest}: there is nothing in the range asked for. Choose --from and ` +
        `--to inside it.`,
    );
  return range;
}
