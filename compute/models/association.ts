import type { PathTable } from '../journey-tables.ts';
import { failure, insufficientData } from '../outcome.ts';
import type { Checkpoint, Failure, PathTotals } from '../outcome.ts';
import type { Association, AssociationResult } from './association-result.ts';
import { presenceCorrelations, valueDeviation, varyingChannels } from './channel-presence.ts';
import type { PresenceCorrelations } from './channel-presence.ts';
import { channelSets } from './channel-sets.ts';
import type { ChannelSets } from './channel-sets.ts';
import { creditIntervals, deleteEachGroup, JOURNEY_GROUPS, noIntervals } from './credit-intervals.ts';
import type { CreditIntervals, Replication } from './credit-intervals.ts';
import { divide, sharesOf, sumOf, totalsOf } from './credits.ts';
import { presenceRow, PresenceTotal, sumPresence, sumPresenceByGroup } from './presence-sums.ts';
import type { PresenceSums } from './presence-sums.ts';

/** Correlations of this many channels take seconds to decompose, and grow with the cube. */
const MOST_CHANNELS = 500;
/** Up to here every group of the jackknife is decomposed; above, fewer groups have to do. */
const MOST_CHANNELS_IN_ALL_GROUPS = 100;
const GROUPS_OF_MANY_CHANNELS = 10;
/** Explained variance below this is rounding. */
const LEAST_R2 = 1e-14;

/** What a method says of one outcome, per varying channel. */
export interface Explanation {
  readonly weight: Float64Array;
  /** error that the method itself leaves, where it samples */
  readonly standardError: Float64Array;
  /** any number whose sign is the direction */
  readonly direction: Float64Array;
}

/** How much of conversion each channel explains, by one of the association models. */
export interface Explained {
  readonly conversion: Explanation;
  readonly value: Explanation;
  readonly exact: boolean;
  readonly evaluations: number;
  /**
   * The weights of correlations that differ little from the explained ones; may take a shorter way that is good to the
   * difference. `throwIfCancelled` ends a task that was cancelled.
   */
  readonly weightsNear: (
    correlations: PresenceCorrelations,
    throwIfCancelled: () => void,
  ) => Readonly<Record<'conversion' | 'value', Float64Array>>;
}

function spread(explanation: Explanation, varying: Int32Array, channels: number): Association {
  const weight = new Float64Array(channels);
  const standardError = new Float64Array(channels);
  const sign = new Int8Array(channels);
  const r2 = sumOf(explanation.weight);
  if (r2 > LEAST_R2) {
    varying.forEach((channel, i) => {
      weight[channel] = explanation.weight[i]!;
      standardError[channel] = explanation.standardError[i]!;
      sign[channel] = Math.sign(explanation.direction[i]!);
    });
  }
  return { r2: sumOf(weight), weight, share: divide(weight, 1), sign, standardError };
}

const scaled = (share: Float64Array, total: number): Float64Array => share.map((part) => part * total);

/** The frame of the two association models: regression sums, the method's own weights, credits and their jackknife. */
export function associate<Model extends 'dominance' | 'rwa'>(
  model: Model,
  table: PathTable,
  explain: (correlations: PresenceCorrelations, checkpoint: Checkpoint) => Explained,
  replication: Replication,
  checkpoint: Checkpoint,
): AssociationResult<Model> | Failure {
  const totals: PathTotals = totalsOf(table);
  const channels = table.channels.length;
  if (totals.paths === 0) return insufficientData('There are no journeys with a touch in this range.');
  if (totals.conversions === 0)
    return insufficientData('No journey with a touch converted in this range, so there is nothing to divide.');
  if (channels > MOST_CHANNELS)
    return failure(
      'too_many_channels',
      `Association is analysed for up to ${MOST_CHANNELS} channels; this data has ${channels}. Merge some.`,
    );
  const sets = channelSets(table, 'all', (fraction) => checkpoint(fraction * 0.4));
  const sums = sumPresence(sets, channels, () => checkpoint(0.4));
  const varying = varyingChannels(sums, channels);
  if (varying.length === 0)
    return insufficientData('Every journey touches the same channels, so their presence explains nothing.');
  const deviationOfValue = valueDeviation(table, sums);
  const explained = explain(presenceCorrelations(sums, channels, varying, deviationOfValue), (fraction) =>
    checkpoint(0.4 + fraction * 0.3),
  );
  const conversionOutcome = spread(explained.conversion, varying, channels);
  const valueOutcome = spread(explained.value, varying, channels);
  if (conversionOutcome.r2 === 0 && valueOutcome.r2 === 0) {
    return insufficientData(
      totals.nulls === 0
        ? 'Every journey converted with the same revenue: this model compares journeys that converted with journeys ' +
            'that did not.'
        : 'The presence of channels explains nothing of who converts here.',
    );
  }
  const warnings: string[] = [];
  if (conversionOutcome.r2 === 0)
    warnings.push(
      'Who converts is not associated with any channel here: dominance and relative weights divide conversions like ' +
        'revenue.',
    );
  if (valueOutcome.r2 === 0 && totals.value !== 0)
    warnings.push(
      'Revenue is not associated with any channel here: dominance and relative weights divide it like conversions.',
    );
  if (conversionOutcome.r2 > 0 && conversionOutcome.r2 < 0.01) {
    warnings.push(
      `Channel presence explains ${(conversionOutcome.r2 * 100).toPrecision(2)} % of who converts: the shares of ` +
        `dominance and relative weights say little.`,
    );
  }
  if (!explained.exact) {
    const worst = Math.max(
      ...[conversionOutcome, valueOutcome].flatMap(({ standardError, r2 }) =>
        r2 > 0 ? [Math.max(...standardError) / r2] : [],
      ),
    );
    warnings.push(
      `With ${varying.length} channels the dominance weights are means over ${explained.evaluations} random ` +
        `orderings, not over all: they carry a standard error of up to ${(100 * worst).toPrecision(1)} percentage ` +
        `points of share.`,
    );
  }
  const share = conversionOutcome.r2 > 0 ? conversionOutcome.share : valueOutcome.share;
  const outcome = valueOutcome.r2 > 0 ? 'value' : 'conversion';
  const divider = outcome === 'value' ? valueOutcome : conversionOutcome;
  const value = scaled(divider.share, totals.value);
  const intervals = (): CreditIntervals => {
    const groups = varying.length > MOST_CHANNELS_IN_ALL_GROUPS ? GROUPS_OF_MANY_CHANNELS : JOURNEY_GROUPS;
    const replicates = new Float64Array(groups * channels);
    const without = sumsWithoutEachGroup(sets, sums, channels, groups, replication.seed, () => checkpoint(0.7));
    for (let g = 0; g < groups; g++) {
      const throwIfCancelled = (): void => checkpoint(0.7 + (g / groups) * 0.3);
      throwIfCancelled();
      const row = presenceRow(without, channels, g);
      const correlations = presenceCorrelations(row, channels, varying, deviationOfValue);
      const near = explained.weightsNear(correlations, throwIfCancelled)[outcome];
      const all = sumOf(near);
      // Revenue of paths without a conversion belongs to no group.
      const revenue = row.totals[PresenceTotal.value]! + totals.value - sums.totals[PresenceTotal.value]!;
      varying.forEach((channel, i) => {
        replicates[g * channels + channel] = (all > LEAST_R2 ? near[i]! / all : divider.share[channel]!) * revenue;
      });
    }
    const methodError = divider.standardError.map((error) => Math.abs((error / divider.r2) * totals.value));
    return creditIntervals(value, replicates, groups, replication, methodError);
  };
  return {
    ok: true,
    model,
    channels: table.channels,
    totals,
    conversionOutcome,
    valueOutcome,
    conversions: scaled(share, totals.conversions),
    value,
    share: sharesOf(share),
    ...(replication.creditAlone === true ? noIntervals(value) : intervals()),
    exact: explained.exact,
    evaluations: explained.evaluations,
    warnings,
  };
}

/** One row of sums per group: all journeys but those of the group, scaled to the whole. */
function sumsWithoutEachGroup(
  sets: ChannelSets,
  sums: PresenceSums,
  channels: number,
  groups: number,
  seed: number,
  throwIfCancelled: () => void,
): PresenceSums {
  const byGroup = sumPresenceByGroup(sets, channels, groups, seed, throwIfCancelled);
  for (const column of ['pairs', 'conversions', 'value', 'totals'] as const)
    deleteEachGroup(byGroup[column], groups, sums[column]);
  return byGroup;
}
