import type { TaskInput, TaskOutcome } from '../../../../compute/tasks.ts';
import { groupName } from '../experiments/channel-group.ts';
import type { ProRatedEffect, RangeExperiment } from '../experiments/range-experiments.ts';
import type { ExperimentCalibration } from './figures.ts';

/** Below this overlap of period and range, the reader is told how little the two share. */
const THIN_OVERLAP = 0.25;

interface UsedExperiment extends RangeExperiment {
  readonly inRange: ProRatedEffect;
  /** Of its channels, in the run. */
  readonly indices: readonly number[];
}

/** The experiments that can calibrate a run, as the causal model takes them, and why others cannot. */
export interface CalibrationPlan {
  readonly input: TaskInput<'causal'>['experiments'];
  readonly used: readonly UsedExperiment[];
  readonly warnings: readonly string[];
}

/** Picks the experiments on paid channels of the run that share something with its range. */
export function planCalibration(
  experiments: readonly RangeExperiment[],
  channels: readonly string[],
  isBaseline: Uint8Array,
): CalibrationPlan {
  const place = new Map(channels.map((channel, index) => [channel, index]));
  const used: UsedExperiment[] = [];
  const warnings: string[] = [];
  for (const experiment of experiments) {
    const { measured, inRange } = experiment;
    // What has nothing in the range added nothing to it.
    const indices = measured.channels.flatMap((channel) => place.get(channel) ?? []);
    if (indices.length === 0 || inRange === null)
      warnings.push(
        `${nameOf(experiment)} was left out: the channel has nothing in the days that its period and the range have ` +
          `in common.`,
      );
    else if (indices.some((index) => isBaseline[index] === 1))
      warnings.push(`${nameOf(experiment)} was left out: the channel counts as baseline in this analysis.`);
    else {
      used.push({ ...experiment, inRange, indices });
      if (inRange.overlap < THIN_OVERLAP) {
        const { incrementalRevenue, standardError } = inRange;
        warnings.push(
          `${nameOf(experiment)} overlaps the range thinly (${inRange.overlap.toFixed(2)}, by ${experiment.basis}): ` +
            `carried over to the range it says ${incrementalRevenue.toFixed(2)} ± ${standardError.toFixed(2)}.`,
        );
      }
    }
  }
  const input = used.map(({ indices, inRange: { incrementalRevenue, standardError } }) => ({
    channels: indices,
    incrementalRevenue,
    standardError,
  }));
  return { input, used, warnings };
}

/** What the experiments said and did, in their order, with what the reader should know of it. */
export function calibrationsOf(
  { used, warnings }: CalibrationPlan,
  causal: TaskOutcome<'causal'>,
): { readonly calibrations: readonly ExperimentCalibration[]; readonly warnings: readonly string[] } {
  if (!causal.ok) return { calibrations: [], warnings };
  const calibrations = used.map(({ measured, basis, inRange }, index) => {
    const { before, after } = causal.calibrations[index]!;
    return {
      id: measured.id,
      channel: groupName(measured.channels),
      ...(measured.channels.length > 1 && { channels: measured.channels }),
      method: measured.method,
      period: [measured.period.start, measured.period.end] as const,
      measuredIncrementalRevenue: measured.incrementalRevenue,
      measuredStandardError: measured.standardError,
      ...inRange,
      basis,
      modelIncrementalRevenueBefore: before,
      modelIncrementalRevenueAfter: after,
    };
  });
  const unmoved = used.filter(
    ({ inRange }, index) =>
      inRange.incrementalRevenue > 0 &&
      calibrations[index]!.modelIncrementalRevenueBefore === 0 &&
      calibrations[index]!.modelIncrementalRevenueAfter === 0,
  );
  return {
    calibrations,
    warnings: [
      ...warnings,
      ...unmoved.map(
        (experiment) =>
          `${nameOf(experiment)} could not move the credit: the models see nothing of the channel that it could go to.`,
      ),
    ],
  };
}

function nameOf({ measured: { id, channels, method, period } }: RangeExperiment): string {
  return `Experiment ${id} (${groupName(channels)}, ${method}, ${period.start} to ${period.end})`;
}
