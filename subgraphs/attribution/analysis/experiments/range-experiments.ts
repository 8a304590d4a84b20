import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { publicId } from '../../../../platform/identifiers.ts';
import { daysBetween } from '../../../../schema/day-range.ts';
import type { DateRange } from '../../intake/data-sources/date-range.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';
import { touchesOfPeriods, type PeriodTouches } from '../../intake/touchpoints/touchpoint-store.ts';
import type { Experiment, ExperimentMethod } from './experiment.ts';

/** The result of an experiment, away from the row that keeps it. Amounts in major units, over the period. */
export interface MeasuredEffect {
  /** Public id. */
  readonly id: string;
  /** What was kept away: one channel, or several together. */
  readonly channels: readonly string[];
  readonly method: ExperimentMethod;
  readonly period: DateRange;
  readonly incrementalRevenue: number;
  readonly standardError: number;
}

/** A measured effect, and what it says of the range of an analysis. */
export interface RangeExperiment {
  readonly measured: MeasuredEffect;
  /** What period and range were compared by; days where no touch of the channel is known in the period. */
  readonly basis: 'touches' | 'days';
  /** Null where period and range have nothing in common. */
  readonly inRange: ProRatedEffect | null;
}

export interface ProRatedEffect {
  /** Effect and standard error for the range, major units. */
  readonly incrementalRevenue: number;
  readonly standardError: number;
  /** Share of the period that lies in the range times share of the range that lies in the period, in (0, 1]. */
  readonly overlap: number;
}

/**
 * How much of a channel (its touches, or days) there is in the period of an experiment, in the range of a run, and in
 * both.
 */
export type Exposure = PeriodTouches;

/** The experiment as runs take it. */
export function measuredEffect({
  id,
  channel,
  channels,
  method,
  periodStart,
  periodEnd,
  incrementalRevenue,
  standardError,
}: Experiment): MeasuredEffect {
  return {
    id: publicId('exp', id),
    channels: channels ?? [channel],
    method,
    period: { start: periodStart, end: periodEnd },
    incrementalRevenue,
    standardError,
  };
}

/**
 * An effect e ± s of a period P, for a range R: e·R/P, since the effect per touch (or day) is taken to be the same in
 * both, ± (s·R/P)/√(p·r) with p = both/P and r = both/R. The factor 1/√p gives a part of the period the error that
 * independent parts add up to; 1/√r discounts what is carried over to days that nobody measured, as a power prior does
 * whose weight is the measured share (Ibrahim and Chen 2000, Statistical Science 15:46). Period = range changes
 * nothing. Null without anything in common.
 */
export function proRate(
  effect: Pick<MeasuredEffect, 'incrementalRevenue' | 'standardError'>,
  { period, range, both }: Exposure,
): ProRatedEffect | null {
  if (!(both > 0)) return null;
  const scale = range / period;
  const overlap = (both / period) * (both / range);
  return {
    incrementalRevenue: effect.incrementalRevenue * scale,
    standardError: (effect.standardError * scale) / Math.sqrt(overlap),
    overlap,
  };
}

/**
 * What each experiment says of a range, by the stored touches of its channels. Reads nothing where there are no
 * experiments.
 */
export async function rangeExperiments(
  clickhouse: ClickHouse,
  source: SourceKey,
  effects: readonly MeasuredEffect[],
  range: DateRange,
): Promise<RangeExperiment[]> {
  if (effects.length === 0) return [];
  const touches = await touchesOfPeriods(
    clickhouse,
    source,
    effects.flatMap(({ channels, period }) => channels.map((channel) => ({ channel, ...period }))),
    range,
  );
  let next = 0;
  return effects.map((measured) => {
    const byTouches = summed(touches.slice(next, (next += measured.channels.length)));
    const basis = byTouches.period > 0 ? 'touches' : 'days';
    return {
      measured,
      basis,
      inRange: proRate(measured, basis === 'touches' ? byTouches : dayExposure(measured.period, range)),
    };
  });
}

const summed = (parts: readonly Exposure[]): Exposure =>
  parts.reduce((all, { period, range, both }) => ({
    period: all.period + period,
    range: all.range + range,
    both: all.both + both,
  }));

function dayExposure(period: DateRange, range: DateRange): Exposure {
  const start = period.start > range.start ? period.start : range.start;
  const end = period.end < range.end ? period.end : range.end;
  return {
    period: daysBetween(period.start, period.end),
    range: daysBetween(range.start, range.end),
    both: Math.max(0, daysBetween(start, end)),
  };
}
