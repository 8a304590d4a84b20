import { faultOfEventTable, faultUnlessSound } from '../journey-tables.ts';
import type { EventTable } from '../journey-tables.ts';
import type { CreditMeasurements, Measured, Measurement } from '../models/causal/credit-measurements.ts';
import { estimationEnd } from '../models/prav/exposure-sums.ts';
import { FEWEST_PLACEBO_EXPOSURES } from '../models/prav/identification.ts';
import { sampleFor } from '../models/prav/joint-estimate.ts';
import { pravEffects } from '../models/prav/prav-credit.ts';
import type { PravEffects } from '../models/prav/prav-credit.ts';
import { earliestEvent } from '../models/prav/visit-flanks.ts';
import { jackknifeError } from '../numerics/jackknife.ts';
import { failure, insufficientData } from '../outcome.ts';
import type { Checkpoint, Failure } from '../outcome.ts';
import { DAY_S } from '../run-options.ts';
import type { RunOptions } from '../run-options.ts';
import { measureOverlap } from './overlap.ts';
import { eventsFrom, sampleUsers } from './user-sample.ts';

/** What the tests look at. */
export interface CreditMeasurementInput {
  /** null: a source of aggregated paths, without users */
  readonly events: EventTable | null;
  readonly options: RunOptions;
}

/** People looked at, or as many as place this many orders, whichever is more. */
const LEAST_USERS = 8_000;
const LEAST_ORDERS = 500;
/** Unpaid channels that are held out, those with the most visits first. */
const MOST_PLACEBOS = 3;
/** As of a horizon in the data: shorter data follows no touch to its end. */
const FEWEST_HORIZONS = 2;

/**
 * Asks PRAV again on a fixed sample of people: with each unpaid channel held out as if it were paid, with half and
 * twice the horizon, and on either half of the data; and counts who has counterparts.
 */
export function measureCredit(
  { events, options }: CreditMeasurementInput,
  checkpoint: Checkpoint,
): CreditMeasurements | Failure {
  if (events === null)
    return insufficientData('This source holds aggregated paths: it takes touchpoints of single users.');
  const fault = faultUnlessSound(events, faultOfEventTable);
  if (fault !== null) return failure('invalid_input', `Event table: ${fault}.`);
  if (options.isBaseline.length !== events.channels.length)
    return failure('invalid_input', 'Credit tests: isBaseline needs one entry per channel.');
  const users = events.userHash.length;
  const perOrder = users / Math.max(1, events.value.length);
  const sample = sampleUsers(events, Math.max(LEAST_USERS, LEAST_ORDERS * perOrder), () => checkpoint(0));
  const size = sampleFor(events, options, events.value.length);
  const ask = (changes: Partial<RunOptions> = {}, rows = sample, done = 0): PravEffects | Failure =>
    pravEffects(rows, { ...options, ...changes }, size, () => checkpoint(done));
  const base = ask();
  const seen = { people: sample.userHash.length, ofPeople: users };
  if (!base.ok) {
    if (base.code !== 'insufficient_data') return base;
    const reason = { reason: base.message };
    return {
      ok: true,
      ...seen,
      placebos: reason,
      horizonHalved: reason,
      horizonDoubled: reason,
      windowHalves: reason,
      overlap: reason,
    };
  }
  const { horizonS } = options;
  const [start, end] = [earliestEvent(sample), estimationEnd(options)];
  const middle = (start + end) / 2;
  const moved = (changes: Partial<RunOptions>, done: number): Measurement<Measured> =>
    comparison(sample.channels, options, base, base, ask(changes, sample, done), 1);
  const lasts = (days: number): boolean => end - start >= days * DAY_S;
  const needed = (FEWEST_HORIZONS * 2 * horizonS) / DAY_S;
  const tooShort = {
    reason: `The data covers ${Math.round((end - start) / DAY_S)} days, and this takes ${Math.round(needed)}.`,
  };
  const overlap = measureOverlap(sample, options, () => checkpoint(0.9));
  return {
    ok: true,
    ...seen,
    placebos: heldOut(sample, options, base, (isBaseline, done) => ask({ isBaseline }, sample, done)),
    horizonHalved: moved({ horizonS: horizonS / 2 }, 0.5),
    // What lies beyond the usual follow-up was not loaded, hence not observed.
    horizonDoubled: lasts(needed) ? moved({ horizonS: 2 * horizonS, observedUntilS: end }, 0.6) : tooShort,
    windowHalves: lasts(needed)
      ? comparison(
          sample.channels,
          options,
          base,
          ask({ observedUntilS: middle }, sample, 0.7),
          ask({}, eventsFrom(sample, middle), 0.8),
          0.5,
        )
      : tooShort,
    overlap: sample.channels.flatMap((channel, c) =>
      options.isBaseline[c] === 1 || overlap[c]!.people === 0 ? [] : [{ channel, ...overlap[c]! }],
    ),
  };
}

/** What each of the larger unpaid channels would be credited with, as a part of the revenue. */
function heldOut(
  { channels }: EventTable,
  { isBaseline, groups }: RunOptions,
  { exposures, rangeRevenue, estimator }: PravEffects,
  askWith: (isBaseline: Uint8Array, done: number) => PravEffects | Failure,
): CreditMeasurements['placebos'] {
  const unpaid = Array.from(isBaseline.keys())
    .filter((c) => isBaseline[c] === 1 && exposures[c]! >= FEWEST_PLACEBO_EXPOSURES)
    .toSorted((a, b) => exposures[b]! - exposures[a]!);
  if (unpaid.length < 2)
    return {
      reason: 'It takes two unpaid channels with visits that could be followed: one to measure, one to measure with.',
    };
  return unpaid.slice(0, MOST_PLACEBOS).flatMap((c, index) => {
    const without = askWith(
      isBaseline.map((own, other) => (other === c ? 0 : own)),
      0.1 + 0.1 * index,
    );
    if (!without.ok || without.estimator !== estimator || !(rangeRevenue > 0)) return [];
    const scale = without.revenuePerEffect[c]! / rangeRevenue;
    return [
      {
        channel: channels[c]!,
        estimate: without.effect[c]! * scale,
        error: jackknifeError(without.replicates, groups, c, channels.length) * scale,
      },
    ];
  });
}

/** `part` of what separates two answers, per paid channel, with the jackknife error of the difference. */
function comparison(
  channels: readonly string[],
  { isBaseline, groups }: RunOptions,
  { revenuePerEffect, rangeRevenue, exposures }: PravEffects,
  one: PravEffects | Failure,
  other: PravEffects | Failure,
  part: number,
): Measurement<Measured> {
  if (!one.ok) return { reason: one.message };
  if (!other.ok) return { reason: other.message };
  if (!(rangeRevenue > 0)) return { reason: 'Refunds exceed sales.' };
  if (one.estimator !== other.estimator)
    return { reason: 'Unpaid visits draw no further visits there, so that nothing tells what interest is worth.' };
  return channels.flatMap((channel, c) => {
    if (isBaseline[c] === 1 || exposures[c]! < FEWEST_PLACEBO_EXPOSURES) return [];
    const scale = (part * revenuePerEffect[c]!) / rangeRevenue;
    const differences = Float64Array.from(
      { length: groups },
      (_, g) => other.replicates[g * channels.length + c]! - one.replicates[g * channels.length + c]!,
    );
    return [
      {
        channel,
        estimate: (other.effect[c]! - one.effect[c]!) * scale,
        error: jackknifeError(differences, groups) * Math.abs(scale),
      },
    ];
  });
}
