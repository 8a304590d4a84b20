import { twoSidedZ } from '../../numerics/normal-quantile.ts';
import type { Failure } from '../../outcome.ts';
import type { PravResult } from '../prav/prav-result.ts';
import { isShownToVisitors, LEAD_ERRORS, LEAD_RATIO } from './channel-identification.ts';
import type { CreditTest, CreditTestCode } from './credit-test.ts';
import type { CreditMeasurements, Measured, Measurement } from './credit-measurements.ts';
import { MECHANISM_ERROR } from './incremental-credit.ts';

/** What the published credit of the rows is judged against. Arrays follow `channels`. */
export interface TestedCredit {
  readonly channels: readonly string[];
  readonly isBaseline: Uint8Array;
  readonly confidenceLevel: number;
  readonly revenue: number;
  /** of the rows, before experiments */
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly prav: PravResult | Failure;
}

/** The level that belongs to LEAD_ERRORS standard errors. */
const LEAD_LEVEL = 0.9973;
/** Who has no counterpart may be this part of those who met a channel. */
const MOST_WITHOUT_COUNTERPART = 0.1;
/** Fewer people say nothing of overlap. */
const FEWEST_PEOPLE = 30;

/** What rounds to nothing has no sign. */
const percent = (part: number): string =>
  `${(isNothing(part) ? 0 : 100 * part).toFixed(Math.abs(part) < 0.0995 ? 1 : 0)} %`;
const isNothing = (part: number): boolean => Math.abs(part) < 0.0005;
const shown = (perTouch: number): string => perTouch.toPrecision(2);

/**
 * All tests, by code and then as measured. Their intervals share the doubt of `confidenceLevel` among the channels of a
 * code (Bonferroni), so that of all channels together about one shop in twenty fails a code by chance.
 */
export function testCredit(measured: CreditMeasurements | Failure, credit: TestedCredit): readonly CreditTest[] {
  const reason = measured.ok ? null : { reason: measured.message };
  const of = <Row>(pick: (from: CreditMeasurements) => Measurement<Row>): Measurement<Row> =>
    measured.ok ? pick(measured) : reason!;
  const horizonDays = credit.prav.ok ? Math.round(credit.prav.horizonS / 86_400) : null;
  const reach = reachOf(credit);
  return [
    ...tests(
      'held_out_placebo',
      of(({ placebos }) => placebos),
      credit,
      {
        thresholdOf: () => twoSidedZ(credit.confidenceLevel) * MECHANISM_ERROR,
        messageOf: placeboMessage,
      },
    ),
    ...leadTests(credit),
    ...tests(
      'horizon_halved',
      of(({ horizonHalved }) => horizonHalved),
      credit,
      {
        thresholdOf: reach,
        messageOf: (row, failed) => horizonMessage(row, failed, `${horizonDays! / 2} days instead of ${horizonDays}`),
      },
    ),
    ...tests(
      'horizon_doubled',
      of(({ horizonDoubled }) => horizonDoubled),
      credit,
      {
        thresholdOf: reach,
        messageOf: (row, failed) => horizonMessage(row, failed, `${horizonDays! * 2} days instead of ${horizonDays}`),
      },
    ),
    ...tests(
      'window_halves',
      of(({ windowHalves }) => windowHalves),
      credit,
      {
        thresholdOf: reach,
        messageOf: windowMessage,
      },
    ),
    ...overlapTests(of(({ overlap }) => overlap)),
  ];
}

/** How many failed tests concern each channel: its own, and those of the placebos, which all are measured by. */
export function failedTests(tests: readonly CreditTest[], channels: readonly string[]): Float64Array {
  const failed = tests.filter(({ status }) => status === 'fail');
  const ofAll = failed.filter(({ code }) => code === 'held_out_placebo').length;
  return Float64Array.from(
    channels,
    (name) => ofAll + failed.filter(({ code, channel }) => code !== 'held_out_placebo' && channel === name).length,
  );
}

/** Half the width of each channel's interval, as a part of the revenue. */
function reachOf({ channels, low, high, revenue }: TestedCredit): (channel: string) => number {
  const place = new Map(channels.map((channel, c) => [channel, c]));
  return (channel) => {
    const c = place.get(channel);
    return c === undefined || !(revenue > 0) ? Infinity : Math.max(0, high[c]! - low[c]!) / (2 * revenue);
  };
}

function notApplicable(code: CreditTestCode, message: string): CreditTest {
  return { code, channel: null, status: 'not_applicable', estimate: null, interval: null, threshold: null, message };
}

function tests(
  code: CreditTestCode,
  measured: Measurement<Measured>,
  { confidenceLevel }: TestedCredit,
  {
    thresholdOf,
    messageOf,
  }: {
    readonly thresholdOf: (channel: string) => number;
    readonly messageOf: (row: Measured, failed: boolean) => string;
  },
): readonly CreditTest[] {
  if ('reason' in measured) return [notApplicable(code, measured.reason)];
  if (measured.length === 0) return [notApplicable(code, 'No channel has enough touches that could be followed.')];
  const level = 1 - (1 - confidenceLevel) / measured.length;
  const z = twoSidedZ(level);
  return measured.map((row): CreditTest => {
    const { channel, estimate, error } = row;
    const interval = { lower: estimate - z * error, upper: estimate + z * error, level };
    const threshold = thresholdOf(channel);
    const failed = Math.abs(estimate) > threshold && (interval.lower > 0 || interval.upper < 0);
    const status = failed ? 'fail' : 'pass';
    return { code, channel, status, estimate, interval, threshold, message: messageOf(row, failed) };
  });
}

function placeboMessage({ channel, estimate }: Measured, failed: boolean): string {
  const found =
    `Held out and measured as if it were paid, ${channel} would be credited with ${percent(estimate)} of the ` +
    'revenue';
  return failed
    ? `${found}. Unpaid visits are what people who come anyway are known by, and these do not behave like the ` +
        `others: ` +
        'the credit of every paid channel may be off by as much. Is it really unpaid, and does nothing bring people ' +
        'to it?'
    : `${found}: no more than chance and the intervals allow for.`;
}

function horizonMessage({ estimate }: Measured, failed: boolean, days: string): string {
  const found = `Followed for ${days}, what it is measured to bring moves by ${percent(estimate)} of the revenue`;
  return failed
    ? `${found}, out of its interval: the figure hangs on how long a touch is taken to work. An experiment that ` +
        `lasts ` +
        'long enough would settle it.'
    : `${found}: no more than chance and its interval allow for.`;
}

function windowMessage({ estimate }: Measured, failed: boolean): string {
  const difference = 2 * estimate;
  const compared = isNothing(difference)
    ? 'as much as'
    : `${percent(Math.abs(difference))} of the revenue ${difference < 0 ? 'less' : 'more'} than`;
  const found = `By the later half of the data it brings ${compared} by the earlier half`;
  return failed
    ? `${found}: its effect is not the same over time, so that one figure for the whole range misleads. Look at ` +
        'shorter ranges.'
    : `${found}: no more than chance and its interval allow for.`;
}

/** The lead test of the identification, as the test that it is. */
function leadTests({ prav, channels, isBaseline }: TestedCredit): readonly CreditTest[] {
  if (!prav.ok) return [notApplicable('lead', prav.message)];
  const z = LEAD_ERRORS;
  const rows = channels.flatMap((channel, index): readonly CreditTest[] => {
    const flanks = prav.flanks[prav.channels.indexOf(channel)];
    if (isBaseline[index] === 1 || flanks === undefined || flanks.touches < FEWEST_PEOPLE) return [];
    const { before, after, differenceError: error } = flanks;
    const estimate = before - after;
    const failed = isShownToVisitors(flanks);
    const found = `People visit unpaid ${shown(before)} times in the week before a touch, ${shown(after)} times after`;
    return [
      {
        code: 'lead',
        channel,
        status: failed ? 'fail' : 'pass',
        estimate,
        interval: { lower: estimate - z * error, upper: estimate + z * error, level: LEAD_LEVEL },
        threshold: (LEAD_RATIO - 1) * after,
        message: failed
          ? `${found}: it follows those who already came. No touch causes what came before it.`
          : `${found}: it does not follow those who already came more than chance would.`,
      },
    ];
  });
  return rows.length > 0 ? rows : [notApplicable('lead', 'No paid channel has touches with a week on both sides.')];
}

function overlapTests(measured: CreditMeasurements['overlap']): readonly CreditTest[] {
  if ('reason' in measured) return [notApplicable('overlap', measured.reason)];
  const rows = measured.filter(({ people }) => people >= FEWEST_PEOPLE);
  if (rows.length === 0) return [notApplicable('overlap', 'No paid channel met enough people.')];
  return rows.map(({ channel, withoutCounterpart: estimate }): CreditTest => {
    const failed = estimate > MOST_WITHOUT_COUNTERPART;
    const found =
      `${percent(estimate)} of those who met it had been so active before that hardly anybody like them ` +
      `went without`;
    return {
      code: 'overlap',
      channel,
      status: failed ? 'fail' : 'pass',
      estimate,
      interval: null,
      threshold: MOST_WITHOUT_COUNTERPART,
      message: failed
        ? `${found}: there is nobody to compare them with. Hold some of them out.`
        : `${found}: nearly all have counterparts.`,
    };
  });
}
