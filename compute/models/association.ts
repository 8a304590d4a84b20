import type { PathTable } from '../journey-tables.ts';
import { failure, insufficientData } from '../outcome.ts';
import type { Checkpoint, Failure, PathTotals } from '../outcome.ts';
import type { Association, AssociationResult } from './association-result.ts';
import { presenceCorrelations } from './channel-presence.ts';
import type { PresenceCorrelations } from './channel-presence.ts';
import { divide, sharesOf, sumOf, totalsOf } from './credits.ts';

/** Correlations of this many channels take seconds to decompose, and grow with the cube. */
const MOST_CHANNELS = 500;
/** Explained variance below this is rounding. */
const LEAST_R2 = 1e-14;

/** What a method says of one outcome, per varying channel. */
export interface Explanation {
  readonly weight: Float64Array;
  readonly standardError: Float64Array;
  /** any number whose sign is the direction */
  readonly direction: Float64Array;
}

export interface Explained {
  readonly conversion: Explanation;
  readonly value: Explanation;
  readonly exact: boolean;
  readonly evaluations: number;
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

/** The frame of the two association models: regression sums, the method's own weights, credits. */
export function associate<Model extends 'dominance' | 'rwa'>(
  model: Model,
  table: PathTable,
  explain: (correlations: PresenceCorrelations, checkpoint: Checkpoint) => Explained,
  checkpoint: Checkpoint,
): AssociationResult<Model> | Failure {
  const totals: PathTotals = totalsOf(table);
  if (totals.paths === 0) return insufficientData('There are no journeys with a touch in this range.');
  if (totals.conversions === 0) return insufficientData('No journey with a touch converted in this range, so there is nothing to divide.');
  if (table.channels.length > MOST_CHANNELS) return failure('too_many_channels', `Association is analysed for up to ${MOST_CHANNELS} channels; this data has ${table.channels.length}. Merge some.`);
  const correlations = presenceCorrelations(table, totals, (fraction) => checkpoint(fraction / 2));
  if (correlations.varying.length === 0) return insufficientData('Every journey touches the same channels, so their presence explains nothing.');
  const explained = explain(correlations, (fraction) => checkpoint(0.5 + fraction / 2));
  const channels = table.channels.length;
  const conversionOutcome = spread(explained.conversion, correlations.varying, channels);
  const valueOutcome = spread(explained.value, correlations.varying, channels);
  if (conversionOutcome.r2 === 0 && valueOutcome.r2 === 0) {
    return insufficientData(
      totals.nulls === 0
        ? 'Every journey converted with the same revenue: this model compares journeys that converted with journeys that did not.'
        : 'The presence of channels explains nothing of who converts here.',
    );
  }
  const warnings: string[] = [];
  if (conversionOutcome.r2 === 0) warnings.push('Who converts is not associated with any channel here: conversions are divided like revenue.');
  if (valueOutcome.r2 === 0 && totals.value !== 0) warnings.push('Revenue is not associated with any channel here: it is divided like conversions.');
  if (conversionOutcome.r2 > 0 && conversionOutcome.r2 < 0.01) {
    warnings.push(`Channel presence explains ${(conversionOutcome.r2 * 100).toPrecision(2)} % of who converts: these shares say little.`);
  }
  const share = conversionOutcome.r2 > 0 ? conversionOutcome.share : valueOutcome.share;
  return {
    ok: true,
    model,
    channels: table.channels,
    totals,
    conversionOutcome,
    valueOutcome,
    conversions: scaled(share, totals.conversions),
    value: scaled(valueOutcome.r2 > 0 ? valueOutcome.share : share, totals.value),
    share: sharesOf(share),
    exact: explained.exact,
    evaluations: explained.evaluations,
    warnings,
  };
}
