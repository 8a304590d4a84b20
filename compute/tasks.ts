import { runEvidence } from './evidence/evidence.ts';
import type { EvidenceInput, EvidenceResult } from './evidence/evidence.ts';
import { measureCredit } from './evidence/measure-credit.ts';
import type { CreditMeasurementInput } from './evidence/measure-credit.ts';
import { runScrutiny } from './evidence/scrutiny.ts';
import type { ScrutinyInput, ScrutinyResult } from './evidence/scrutiny.ts';
import { runSensitivity } from './evidence/sensitivity.ts';
import type { SensitivityInput, SensitivityResult } from './evidence/sensitivity.ts';
import { faultOfEventTable, faultOfPathTable, faultUnlessSound } from './journey-tables.ts';
import type { EventTable, PathTable } from './journey-tables.ts';
import { breakDown } from './models/breakdown/breakdown.ts';
import type { BreakdownInput } from './models/breakdown/breakdown.ts';
import type { BreakdownResult } from './models/breakdown/breakdown-result.ts';
import { periodSegments } from './models/breakdown/period-segments.ts';
import type { PeriodTable } from './models/breakdown/period-segments.ts';
import { runCausal } from './models/causal/causal.ts';
import type { CausalInput } from './models/causal/causal-input.ts';
import type { CausalResult } from './models/causal/causal-result.ts';
import type { CreditMeasurements } from './models/causal/credit-measurements.ts';
import { compareOnEvents } from './models/comparison/event-rules.ts';
import { compareOnPaths } from './models/comparison/path-rules.ts';
import type { ComparisonResult } from './models/comparison/comparison-result.ts';
import type { AssociationResult } from './models/association-result.ts';
import { holdoutWindows } from './models/experiment-design/holdout-windows.ts';
import type { HoldoutWindows } from './models/experiment-design/holdout-windows.ts';
import type { Replication } from './models/credit-intervals.ts';
import { runDominance } from './models/dominance/dominance.ts';
import { runMarkov } from './models/markov/markov.ts';
import type { MarkovResult } from './models/markov/markov-result.ts';
import type { Segments } from './models/prav/exposure-sums.ts';
import { runPrav } from './models/prav/prav.ts';
import type { PravResult } from './models/prav/prav-result.ts';
import { runRelativeWeights } from './models/relative-weights/relative-weights.ts';
import { spendResponse } from './models/spend-response/spend-response.ts';
import type { SpendDays, SpendResponses } from './models/spend-response/spend-response.ts';
import { runShapley } from './models/shapley/shapley.ts';
import type { ShapleyResult } from './models/shapley/shapley-result.ts';
import { CancelledError, failure } from './outcome.ts';
import type { Checkpoint, Failure } from './outcome.ts';
import { DEFAULT_RUN_PARAMETERS } from './run-options.ts';
import type { RunOptions } from './run-options.ts';

/** What every path model reads. */
export interface PathsInput {
  readonly paths: PathTable;
  /** of the intervals; 0.95 */
  readonly confidenceLevel?: number;
  /**
   * of the random groups behind the intervals, and of the orderings that dominance samples above 20 varying channels; 1
   */
  readonly seed?: number;
}

/** `order`: how many steps the chain remembers, 1 to 4. */
export interface MarkovInput extends PathsInput {
  readonly order: number;
}

/** What PRAV reads. */
export interface PravInput {
  /** null: a source of aggregated paths, without users */
  readonly events: EventTable | null;
  readonly options: RunOptions;
  /** each asks for the credit's split over the segments of one segmentation (campaigns, …) or over periods */
  readonly segments?: readonly (Segments | PeriodTable)[];
}

/** The event table where there is one; the path table (one step = one day) otherwise. */
export type ComparisonInput =
  | { readonly events: EventTable; readonly options: Pick<RunOptions, 'rangeStartS' | 'rangeEndS' | 'lookbackS'> }
  | { readonly paths: PathTable; readonly unattributed: { readonly conversions: number; readonly value: number } };

/** Channels whose spend leaves no touches, each with the days of the shop. */
export interface SpendResponseInput {
  readonly channels: readonly SpendDays[];
  readonly confidenceLevel: number;
}

/** Orders of single people, and the range in which a test would have been. */
export interface HoldoutWindowsInput {
  readonly events: EventTable;
  readonly options: Pick<RunOptions, 'rangeStartS' | 'rangeEndS'>;
}

/** The task table: name → input and result. */
export interface Tasks {
  markov: { input: MarkovInput; result: MarkovResult };
  shapley: { input: PathsInput; result: ShapleyResult };
  dominance: { input: PathsInput; result: AssociationResult<'dominance'> };
  rwa: { input: PathsInput; result: AssociationResult<'rwa'> };
  prav: { input: PravInput; result: PravResult };
  comparison: { input: ComparisonInput; result: ComparisonResult };
  breakdown: { input: BreakdownInput; result: BreakdownResult };
  causal: { input: CausalInput; result: CausalResult };
  spend_response: { input: SpendResponseInput; result: SpendResponses };
  holdout_windows: { input: HoldoutWindowsInput; result: HoldoutWindows };
  credit_measurement: { input: CreditMeasurementInput; result: CreditMeasurements };
  evidence: { input: EvidenceInput; result: EvidenceResult };
  scrutiny: { input: ScrutinyInput; result: ScrutinyResult };
  sensitivity: { input: SensitivityInput; result: SensitivityResult };
}
/** Name of a task. */
export type TaskName = keyof Tasks;
export type TaskInput<Name extends TaskName> = Tasks[Name]['input'];
export type TaskOutcome<Name extends TaskName> = Tasks[Name]['result'] | Failure;

const withPaths = <Result>(paths: PathTable, run: () => Result | Failure): Result | Failure => {
  const fault = faultUnlessSound(paths, faultOfPathTable);
  return fault === null ? run() : failure('invalid_input', `Path table: ${fault}.`);
};
const replicated = <Result>(
  { paths, confidenceLevel = DEFAULT_RUN_PARAMETERS.confidenceLevel, seed = 1 }: PathsInput,
  run: (replication: Replication) => Result | Failure,
): Result | Failure => {
  if (!(confidenceLevel > 0 && confidenceLevel < 1))
    return failure('invalid_input', 'confidenceLevel lies between 0 and 1.');
  return withPaths(paths, () => run({ confidenceLevel, seed }));
};
const withEvents = <Result>(events: EventTable, run: () => Result | Failure): Result | Failure => {
  const fault = faultUnlessSound(events, faultOfEventTable);
  return fault === null ? run() : failure('invalid_input', `Event table: ${fault}.`);
};

const TASKS: { readonly [Name in TaskName]: (input: TaskInput<Name>, checkpoint: Checkpoint) => TaskOutcome<Name> } = {
  markov: (input, checkpoint) =>
    replicated(input, (replication) => runMarkov(input.paths, input.order, replication, checkpoint)),
  shapley: (input, checkpoint) => replicated(input, (replication) => runShapley(input.paths, replication, checkpoint)),
  dominance: (input, checkpoint) =>
    replicated(input, (replication) => runDominance(input.paths, replication, checkpoint)),
  rwa: (input, checkpoint) =>
    replicated(input, (replication) => runRelativeWeights(input.paths, replication, checkpoint)),
  prav: ({ events, options, segments }, checkpoint) =>
    events === null
      ? failure(
          'insufficient_data',
          'This source holds aggregated paths. PRAV needs touchpoints of single users: upload events or touchpoints ' +
            'with a user id.',
        )
      : withEvents(events, () =>
          runPrav(
            events,
            options,
            (segments ?? []).map((each) => ('ofDay' in each ? periodSegments(events, options, each) : each)),
            checkpoint,
          ),
        ),
  comparison: (input, checkpoint) =>
    'events' in input
      ? withEvents(input.events, () => compareOnEvents(input.events, input.options, checkpoint))
      : withPaths(input.paths, () => compareOnPaths(input.paths, input.unattributed, checkpoint)),
  breakdown: (input, checkpoint) => withEvents(input.events, () => breakDown(input, checkpoint)),
  causal: (input) => runCausal(input),
  spend_response: ({ channels, confidenceLevel }, checkpoint) => ({
    ok: true,
    responses: channels.map((days, done) => {
      checkpoint(done / channels.length);
      return spendResponse(days, confidenceLevel);
    }),
  }),
  holdout_windows: ({ events, options }, checkpoint) =>
    withEvents(events, () => holdoutWindows(events, options, checkpoint)),
  credit_measurement: (input, checkpoint) => measureCredit(input, checkpoint),
  evidence: (input, checkpoint) => runEvidence(input, checkpoint),
  scrutiny: (input) => runScrutiny(input),
  sensitivity: (input, checkpoint) => runSensitivity(input, checkpoint),
};

function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (!ArrayBuffer.isView(value)) return Object.values(value).every(isFiniteThroughout);
  const array = value as Float64Array;
  for (let i = 0; i < array.length; i++) if (!Number.isFinite(array[i]!)) return false;
  return true;
}

/** Runs one task on this thread. Never throws: whatever goes wrong comes back as a Failure, and never a NaN. */
export function runTask<Name extends TaskName>(
  name: Name,
  input: TaskInput<Name>,
  checkpoint: Checkpoint,
): TaskOutcome<Name> {
  try {
    checkpoint(0);
    const outcome = TASKS[name](input, checkpoint);
    if (outcome.ok && !isFiniteThroughout(outcome))
      return failure('out_of_range', 'The figures are too large to compute with.');
    return outcome;
  } catch (error) {
    if (error instanceof CancelledError) return failure('cancelled', error.message);
    return failure('failed', error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
}
