import { createHash } from 'node:crypto';
import type { EventTable, PathTable } from '../../../../compute/journey-tables.ts';
import { toCents } from '../../../../compute/numerics/largest-remainder.ts';
import type { Failure } from '../../../../compute/outcome.ts';
import type { TaskRunner } from '../../../../compute/pool.ts';
import type { RunOptions } from '../../../../compute/run-options.ts';
import { DEFAULT_RUN_PARAMETERS } from '../../../../compute/run-options.ts';
import type { TaskName, TaskOutcome } from '../../../../compute/tasks.ts';
import { canonicalDigest } from '../../../../services/trust/canonical-json.ts';
import type { DataQuality, QualityCode } from '../../../../schema/contract/data-quality.ts';
import { isBaselineChannel } from '../../intake/data-sources/data-source.ts';
import type { OrderCosts } from '../../intake/touchpoints/order-costs.ts';
import type { DailySpend } from '../../intake/touchpoints/touchpoint-store.ts';
import type { RangeExperiment } from '../experiments/range-experiments.ts';
import { assertAmountsInRange, assertFiguresInRange } from './amount-range.ts';
import { RunFailedError } from '../../runs/run-failed-error.ts';
import type { AttributionModel, Granularity } from './attribution.ts';
import { calibrationsOf, planCalibration, type CalibrationPlan } from './calibration.ts';
import {
  comparisonOf,
  creditOf,
  modelBreakdownOf,
  recoveredRevenue,
  type Credit,
  type ModelOutcomes,
  type RunTotals,
} from './compose-figures.ts';
import type { AnalysisDiagnostics, AnalysisFigures } from './figures.ts';
import { convergenceOf, modelDiagnostics } from './model-diagnostics.ts';
import { isOwnedMedia } from '../../intake/data-sources/owned-media.ts';
import { asSureAsTheRows, assertGoodEnough } from './quality-gate.ts';
import { profitabilityOf, type StatedMargin } from './profitability.ts';
import { stage, type ProgressEvent } from './attribution-progress.ts';
import { withSpendResponses } from './spend-responses.ts';
import { NO_CAMPAIGNS, startBreakdown, type Breakdown, type CampaignRows } from './start-breakdown.ts';

/** The rows of a run as the columnar engine hands them over. Money in major units. */
export interface RunData {
  readonly paths: PathTable;
  /** null for a source of aggregated paths. */
  readonly events: EventTable | null;
  readonly totals: {
    readonly journeys: number;
    readonly convertingJourneys: number;
    readonly touches: number;
    readonly conversions: number;
    readonly revenue: number;
    /** Sum of the sizes of all amounts, refunds included: nothing that is made of some of them exceeds it. */
    readonly turnover: number;
    readonly unattributedConversions: number;
    readonly unattributedRevenue: number;
  };
  /** Spend per channel in the range. */
  readonly spend: ReadonlyMap<string, number>;
  /** The same by day, as far as it was stated so; none where absent. */
  readonly spendDays?: readonly DailySpend[];
  /** What orders say of the cost of their goods; nothing where absent. */
  readonly orderCosts?: OrderCosts;
  /** None where absent. */
  readonly campaigns?: CampaignRows;
  /** Time of the last stored event of the source, seconds since the epoch. */
  readonly observedUntilS: number;
  /** Experiments that calibrate a causal run; none where absent. */
  readonly experiments?: readonly RangeExperiment[];
  /** How good the rows are; not measured where absent. */
  readonly quality?: DataQuality;
  /** What the reader of the figures should know of the rows. */
  readonly warnings?: readonly string[];
  /** What identities did to the journeys; absent where there are none. */
  readonly stitching?: AnalysisDiagnostics['stitching'];
  /** New against returning customers; absent where no order says which it is. */
  readonly customers?: AnalysisDiagnostics['customers'];
}

/** What is asked of a run, beside its rows. */
export interface RunParameters {
  readonly model: AttributionModel;
  readonly granularity: Granularity;
  readonly rangeStartS: number;
  /** Exclusive. */
  readonly rangeEndS: number;
  readonly lookbackS: number;
  readonly confidenceLevel: number;
  readonly markovOrder: number;
  readonly baselineChannels: readonly string[];
  readonly currency: string;
  /** What the sampled models draw from: the same seed and rows give the same figures, bit by bit. */
  readonly seed: string;
  /** Names the channel rules that the rows were read by; null or absent for none. */
  readonly channelRulesDigest?: string | null;
  /** What was said of the margin; nothing where absent. */
  readonly margin?: StatedMargin;
  /** What may be wrong with the rows; nothing that is blocking where absent. */
  readonly acceptQuality?: readonly QualityCode[];
}

export interface RunServices {
  readonly pool: TaskRunner;
  readonly onProgress: (event: ProgressEvent) => void;
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly clockMs: () => number;
  /** When the run began to read its rows, by the same clock. */
  readonly startedMs: number;
  /** The outcomes of all models, before they become figures. */
  readonly onOutcomes?: (outcomes: ModelOutcomes) => void;
}

const PATH_MODELS = ['markov', 'shapley', 'dominance', 'rwa', 'prav'] as const;

/**
 * Runs the five models in parallel on the pool, combines them where `causal` is asked for, and composes the figures.
 * @throws RunFailedError when the rows are not good enough, cannot answer the question or add up to more than is exact,
 * or the run was cancelled.
 */
export async function analyze(
  data: RunData,
  parameters: RunParameters,
  services: RunServices,
): Promise<AnalysisFigures> {
  assertAmountsInRange(data);
  assertGoodEnough(data.quality, parameters.acceptQuality);
  if (data.totals.conversions === 0) {
    throw new RunFailedError({
      code: 'insufficient_data',
      message:
        'There is no conversion in this range. Choose a longer range, upload the orders, or name another ' +
        'conversion event.',
    });
  }
  if (data.totals.journeys === 0) {
    throw new RunFailedError({
      code: 'insufficient_data',
      message:
        'There is no touchpoint in this range or its lookback window. Choose a longer range, or upload touchpoints.',
    });
  }
  const channels = channelsOf(data);
  const isBaseline = Uint8Array.from(channels, (channel) =>
    isBaselineChannel(channel, parameters.baselineChannels) ? 1 : 0,
  );
  const options = runOptionsOf(data, parameters);
  const run = taskRunner(services);

  const comparisonRun = run(
    'comparison',
    data.events === null
      ? {
          paths: data.paths,
          unattributed: { conversions: data.totals.unattributedConversions, value: data.totals.unattributedRevenue },
        }
      : { events: data.events, options },
  );
  const seed = seedOf(parameters);
  const breakdownRuns = startBreakdown(
    {
      events: data.events,
      channels,
      campaigns: data.campaigns ?? NO_CAMPAIGNS,
      model: parameters.model,
      granularity: parameters.granularity,
      options,
    },
    run,
  );
  const onPaths = { paths: data.paths, confidenceLevel: parameters.confidenceLevel, seed };
  const memberRuns = {
    markov: run('markov', { ...onPaths, order: parameters.markovOrder }),
    shapley: run('shapley', onPaths),
    dominance: run('dominance', onPaths),
    rwa: run('rwa', onPaths),
    prav: run('prav', { events: data.events, options, segments: breakdownRuns.segments }),
  };
  // Beside the models; behind them, since they decide how long a run takes.
  const windowsRun = parameters.model === 'causal' ? holdoutWindowsOf(data, options, run) : null;
  const measurementRun =
    parameters.model === 'causal' ? run('credit_measurement', { events: data.events, options }) : null;
  const totals: RunTotals = {
    channels,
    isBaseline,
    conversions: data.totals.conversions,
    revenue: data.totals.revenue,
    unattributedRevenue: data.totals.unattributedRevenue,
    spend: data.spend,
    comparison: required('comparison', await comparisonRun),
    confidenceLevel: parameters.confidenceLevel,
  };

  const finished = { count: 0 };
  await Promise.all(
    PATH_MODELS.map(async (model) => reportMember(model, await memberRuns[model], totals, finished, services)),
  );
  const members = {
    markov: await memberRuns.markov,
    shapley: await memberRuns.shapley,
    dominance: await memberRuns.dominance,
    rwa: await memberRuns.rwa,
    prav: await memberRuns.prav,
  };

  services.onProgress(stage('combining', 0.85, 'Combining the models'));
  const plan = planCalibration(parameters.model === 'causal' ? (data.experiments ?? []) : [], channels, isBaseline);
  const causal = await run('causal', {
    channels,
    isBaseline,
    confidenceLevel: parameters.confidenceLevel,
    totals: { conversions: data.totals.conversions, revenue: data.totals.revenue },
    members,
    comparison: totals.comparison,
    spend: Float64Array.from(channels, (channel) => data.spend.get(channel) ?? 0),
    isOwnedMedia: Uint8Array.from(channels, (channel) => (isOwnedMedia(channel) ? 1 : 0)),
    experiments: plan.input,
    ...(measurementRun !== null && { measurements: await measurementRun }),
  });
  const outcomes: ModelOutcomes = { ...members, causal };
  services.onOutcomes?.(outcomes);
  const outcome = required(parameters.model, outcomes[parameters.model]);
  const credit = await withSpendResponses(
    asSureAsTheRows(creditOf(parameters.model, outcome, totals, outcomes), data.quality),
    { ...parameters, ...data },
    (input) => run('spend_response', input),
  );
  const breakdown = await breakdownRuns.finish(credit, outcomes);
  const holdouts = windowsRun === null ? {} : { holdoutWindows: await windowsRun };
  const elapsedMs = services.clockMs() - services.startedMs;
  return { ...compose(parameters, data, totals, outcomes, credit, plan, breakdown, elapsedMs), ...holdouts };
}

/** Null for aggregated paths. */
async function holdoutWindowsOf(
  { events }: RunData,
  options: RunOptions,
  run: ReturnType<typeof taskRunner>,
): Promise<AnalysisFigures['holdoutWindows']> {
  if (events === null) return null;
  return required('holdout_windows', await run('holdout_windows', { events, options })).windows;
}

function compose(
  parameters: RunParameters,
  data: RunData,
  totals: RunTotals,
  outcomes: ModelOutcomes,
  credit: Credit,
  plan: CalibrationPlan,
  { timeSeries, campaigns, warnings: breakdownWarnings }: Breakdown,
  elapsedMs: number,
): AnalysisFigures {
  const { models, warnings, iterations, converged } = modelDiagnostics(parameters.model, outcomes);
  const { calibrations, warnings: calibrationWarnings } = calibrationsOf(plan, outcomes.causal);
  const { profitability, warnings: marginWarnings } = profitabilityOf(
    parameters.margin ?? null,
    data.orderCosts ?? null,
  );
  const tests = parameters.model === 'causal' && outcomes.causal.ok ? { tests: outcomes.causal.tests } : {};
  const figures = {
    currency: parameters.currency,
    conversions: data.totals.conversions,
    unattributedRevenueCents: toCents(totals.unattributedRevenue),
    ...credit,
    ...recoveredRevenue(credit.channels),
    methodology: methodologyOf(parameters, outcomes, calibrations.length),
    modelBreakdown: modelBreakdownOf(outcomes),
    comparison: comparisonOf(totals),
    calibrations,
    timeSeries,
    campaigns,
    ...(profitability !== null && { profitability }),
  };
  const analysis: AnalysisFigures = {
    ...figures,
    ...(data.quality !== undefined && { dataQuality: data.quality }),
    diagnostics: {
      journeys: data.totals.journeys,
      convertingJourneys: data.totals.convertingJourneys,
      touches: data.totals.touches,
      converged,
      iterations,
      elapsedMs: Math.round(elapsedMs),
      seed: parameters.seed,
      runDigest: canonicalDigest({ ...figures, models, ...tests }),
      warnings: [
        ...(data.warnings ?? []),
        ...marginWarnings,
        ...warnings,
        ...calibrationWarnings,
        ...breakdownWarnings,
      ],
      ...(data.stitching !== undefined && { stitching: data.stitching }),
      ...(data.customers !== undefined && { customers: data.customers }),
      ...tests,
      models,
    },
  };
  assertFiguresInRange(analysis);
  return analysis;
}

/** What was done, in one line of the field's terms. */
function methodologyOf(parameters: RunParameters, outcomes: ModelOutcomes, experiments: number): string {
  if (parameters.model === 'markov') return `markov/order-${parameters.markovOrder}`;
  if (parameters.model !== 'causal') return parameters.model;
  const ran = PATH_MODELS.filter((model) => outcomes[model].ok).join('+');
  const weights =
    outcomes.causal.ok && outcomes.causal.basis === 'prior' ? 'prior-weights' : 'stacked-on-placebo-adjusted-lift';
  return [
    ran,
    weights,
    ...(outcomes.causal.ok && outcomes.causal.spendWeight.some((weight) => weight > 0) ? ['spend-prior'] : []),
    ...(experiments === 0 ? [] : [`calibrated-by-${experiments}-experiment${experiments === 1 ? '' : 's'}`]),
  ].join('/');
}

function taskRunner(services: RunServices) {
  return <Name extends TaskName>(
    name: Name,
    input: Parameters<typeof services.pool.run<Name>>[1],
  ): Promise<TaskOutcome<Name>> => {
    const answer = services.pool.run(name, input, { cancel: services.signal }).then((outcome) => {
      if (!outcome.ok && outcome.code === 'cancelled')
        throw new RunFailedError({ code: 'cancelled', message: 'The analysis was cancelled.' });
      return outcome;
    });
    // All tasks of a cancelled run fail, and only the first is waited for.
    answer.catch(() => undefined);
    return answer;
  };
}

function reportMember(
  model: (typeof PATH_MODELS)[number],
  outcome: TaskOutcome<(typeof PATH_MODELS)[number]>,
  totals: RunTotals,
  finished: { count: number },
  services: RunServices,
): void {
  finished.count += 1;
  const progress = 0.35 + (0.5 * finished.count) / PATH_MODELS.length;
  if (outcome.ok) {
    const { channels, revenueCents } = creditOf(model, outcome, totals, null);
    services.onProgress({ kind: 'CHANNEL_RESULT', model, progress, revenueCents, channels });
  }
  services.onProgress({
    ...stage(
      `model:${model}`,
      progress,
      outcome.ok ? `${model} is done` : `${model} gives no answer: ${outcome.message}`,
    ),
    ...convergenceOf(outcome),
  });
}

function required<Outcome extends { readonly ok: boolean }>(
  model: string,
  outcome: Outcome,
): Extract<Outcome, { readonly ok: true }> {
  if (outcome.ok) return outcome as Extract<Outcome, { readonly ok: true }>;
  const { code, message } = outcome as Outcome & Failure;
  if (code === 'insufficient_data' || code === 'too_many_channels' || code === 'out_of_range')
    throw new RunFailedError({ code: 'insufficient_data', message });
  throw new Error(`${model} failed: ${message}`);
}

/** Every channel of the run: those on paths, those of events outside them, those with spend alone; sorted by name. */
function channelsOf(data: RunData): readonly string[] {
  return [...new Set([...data.paths.channels, ...(data.events?.channels ?? []), ...data.spend.keys()])].toSorted();
}

/** What the tasks on events are told; `isBaseline` is of the tables' channels. */
export function runOptionsOf(data: RunData, parameters: RunParameters): RunOptions {
  return {
    ...DEFAULT_RUN_PARAMETERS,
    ...parameters,
    observedUntilS: data.observedUntilS,
    isBaseline: baselineOf(data.events?.channels ?? data.paths.channels, parameters),
  };
}

/** The number that sampled models draw from. */
export function seedOf(parameters: RunParameters): number {
  return createHash('sha256').update(parameters.seed).digest().readUInt32LE(0);
}

function baselineOf(channels: readonly string[], parameters: RunParameters): Uint8Array {
  return Uint8Array.from(channels, (channel) => (isBaselineChannel(channel, parameters.baselineChannels) ? 1 : 0));
}
