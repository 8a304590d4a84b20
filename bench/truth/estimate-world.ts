import type { EventTable } from '../../compute/journey-tables.ts';
import type { TaskRunner } from '../../compute/pool.ts';
import { DAY_S, DEFAULT_RUN_PARAMETERS } from '../../compute/run-options.ts';
import { runTask } from '../../compute/tasks.ts';
import type { TaskInput, TaskName, TaskOutcome } from '../../compute/tasks.ts';
import { analyze } from '../../subgraphs/attribution/analysis/attributions/analyze.ts';
import type { AnalysisFigures } from '../../subgraphs/attribution/analysis/attributions/figures.ts';
import type { RangeExperiment } from '../../subgraphs/attribution/analysis/experiments/range-experiments.ts';
import { DEFAULT_BASELINE_CHANNELS } from '../../subgraphs/attribution/intake/data-sources/data-source.ts';
import { journeysOf } from './journeys.ts';
import { WORLD_START_S } from './simulate-world.ts';
import type { World } from './simulate-world.ts';
import { paidChannels } from './world-spec.ts';

export const METHODS = [
  'last_click',
  'first_click',
  'linear',
  'markov_1',
  'markov_2',
  'shapley',
  'dominance',
  'rwa',
  'prav',
  'causal',
] as const;
export type Method = (typeof METHODS)[number];

/** What a method says of a world. Arrays have one entry per paid channel, revenue in major units. */
export interface Estimate {
  readonly credit: readonly number[];
  /** published 0.95 interval, where the method has one */
  readonly low?: readonly number[];
  readonly high?: readonly number[];
  /** of causal: whether the channel's effect is known as a point, in part or not at all, and the codes of why */
  readonly identification?: readonly {
    readonly status: 'point' | 'partial' | 'none';
    readonly codes: readonly string[];
  }[];
}

export type Estimates = Readonly<Record<Method, Estimate>> & {
  readonly deltaR: number;
  /** its published interval, major units */
  readonly deltaRInterval: readonly [low: number, high: number];
  /** the tests of the causal credit that could be made */
  readonly tests: readonly { readonly code: string; readonly channel: string; readonly failed: boolean }[];
  readonly warnings: readonly string[];
};

type Good<Name extends TaskName> = Extract<TaskOutcome<Name>, { readonly ok: true }>;

/** Runs the tasks on this thread, in the order they come, and keeps what they answered. */
function keepingPool(): TaskRunner & { readonly answers: Map<TaskName, unknown> } {
  const answers = new Map<TaskName, unknown>();
  return {
    answers,
    run: <Name extends TaskName>(name: Name, input: TaskInput<Name>): Promise<TaskOutcome<Name>> => {
      const outcome = runTask(name, input, () => undefined);
      answers.set(name, outcome);
      return Promise.resolve(outcome);
    },
  };
}

/** A shop's rows as the analysis takes them, and what is asked about them. */
export interface Rows {
  readonly name: string;
  readonly events: EventTable;
  /** paid channels with touches, in the order of the answers */
  readonly paid: readonly string[];
  readonly startS: number;
  readonly days: number;
  /** of the window, major units */
  readonly spend: ReadonlyMap<string, number>;
}

/** Every method on one world. */
export const estimateWorld = ({ spec, events }: World): Promise<Estimates> =>
  estimateRows({
    name: spec.name,
    events,
    paid: paidChannels(spec).map((c) => spec.channels[c]!.name),
    startS: WORLD_START_S,
    days: spec.days,
    spend: new Map(),
  });

/** The causal analysis that the product runs: same journeys, same tasks, same rounding. */
export async function analysisOf(
  { name, events, startS, days, spend }: Omit<Rows, 'paid'>,
  experiments: readonly RangeExperiment[] = [],
) {
  const { paths, totals } = journeysOf(events, DEFAULT_RUN_PARAMETERS.lookbackS);
  const observedUntilS = events.timeS.reduce((latest, t) => Math.max(latest, t), 0);
  const pool = keepingPool();
  const figures = await analyze(
    { paths, events, totals, spend, observedUntilS, experiments },
    {
      ...DEFAULT_RUN_PARAMETERS,
      model: 'causal',
      granularity: 'monthly',
      rangeStartS: startS,
      rangeEndS: startS + days * DAY_S,
      baselineChannels: DEFAULT_BASELINE_CHANNELS,
      currency: 'USD',
      seed: name,
    },
    { pool, onProgress: () => undefined, signal: new AbortController().signal, clockMs: () => 0, startedMs: 0 },
  );
  return { figures, paths, answers: pool.answers };
}

/** Every method, on one shop's rows. */
export async function estimateRows(rows: Rows): Promise<Estimates> {
  const { name, paid } = rows;
  const { figures, paths, answers } = await analysisOf(rows);
  const answer = <Name extends TaskName>(task: Name): Good<Name> => {
    const outcome = answers.get(task) as TaskOutcome<Name>;
    if (!outcome.ok) throw new Error(`${name}: ${task} gave no answer: ${outcome.message}`);
    return outcome as Good<Name>;
  };
  const second = runTask('markov', { paths, order: 2 }, () => undefined);
  if (!second.ok) throw new Error(`${name}: ${second.message}`);
  const credited = ({
    channels,
    value,
  }: {
    readonly channels: readonly string[];
    readonly value: Float64Array;
  }): Estimate => ({ credit: paid.map((name) => value[channels.indexOf(name)] ?? 0) });
  const prav = answer('prav');
  const ends = (column: Float64Array): number[] => paid.map((name) => column[prav.channels.indexOf(name)] ?? 0);
  return {
    last_click: ruled(figures, 'last_click', paid),
    first_click: ruled(figures, 'first_click', paid),
    linear: ruled(figures, 'linear', paid),
    markov_1: credited(answer('markov')),
    markov_2: credited(second),
    shapley: credited(answer('shapley')),
    dominance: credited(answer('dominance')),
    rwa: credited(answer('rwa')),
    prav: { ...credited(prav), low: ends(prav.intervalLow), high: ends(prav.intervalHigh) },
    causal: published(figures, paid),
    deltaR: figures.deltaRCents / 100,
    deltaRInterval: [answer('causal').deltaR.lowCents / 100, answer('causal').deltaR.highCents / 100],
    tests: answer('causal').tests.flatMap(({ code, channel, status }) =>
      channel === null || status === 'not_applicable' ? [] : [{ code, channel, failed: status === 'fail' }],
    ),
    warnings: figures.diagnostics.warnings,
  };
}

const ruled = (
  { comparison }: AnalysisFigures,
  rule: 'last_click' | 'first_click' | 'linear',
  paid: readonly string[],
): Estimate => ({ credit: paid.map((name) => comparison[rule][name] ?? 0) });

/** The causal model as its reader sees it: cents and interval after rounding; [0, 0] where nothing can be measured. */
function published({ channels }: AnalysisFigures, paid: readonly string[]): Estimate {
  const figures = paid.map((name) => {
    const found = channels.find(({ channel }) => channel === name);
    if (found?.identification == null) throw new Error(`the analysis does not say how well ${name} is known`);
    const { lower, upper } = found.confidenceInterval ?? { lower: 0, upper: 0 };
    const { status, reasons } = found.identification;
    return {
      credit: found.attributedRevenueCents / 100,
      lower,
      upper,
      identification: { status, codes: reasons.map(({ code }) => code) },
    };
  });
  return {
    credit: figures.map(({ credit }) => credit),
    low: figures.map(({ lower }) => lower),
    high: figures.map(({ upper }) => upper),
    identification: figures.map(({ identification }) => identification),
  };
}
