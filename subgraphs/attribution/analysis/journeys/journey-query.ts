import type { EventCampaigns, EventTable, PathTable } from '../../../../compute/journey-tables.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';

/** Which journeys a run asks for. */
export interface JourneyQuery extends SourceKey {
  /** First and last UTC day, both inclusive, `YYYY-MM-DD`. */
  readonly dateRange: readonly [string, string];
  readonly lookbackDays: number;
  /** Only touches of these channels take part; all when absent. */
  readonly channels?: readonly string[];
  readonly conversionEvent: string;
  /** Events from then on are mistakes that tell nothing of how long the source was observed. None are where absent. */
  readonly observedBefore?: Date;
  /** Touches of the range are counted in the store on the way, and their cost: what figures are checked against. */
  readonly countsTouches?: boolean;
}

/** Counts of a path table. Money in major units, exact to 4 decimals. */
export interface JourneyTotals {
  /** Journeys with at least one touch, converting or not. */
  readonly journeys: number;
  readonly convertingJourneys: number;
  /** All conversions in range, those without a touch included. */
  readonly conversions: number;
  readonly revenue: number;
  /** Sum of the sizes of all amounts: refunds count as positive. */
  readonly turnover: number;
  /** Conversions that no touch precedes within the lookback. */
  readonly unattributedConversions: number;
  readonly unattributedRevenue: number;
  /** Touches dated inside the range; for a file of paths, the steps of all its journeys. */
  readonly touches: number;
}

export interface JourneyPaths {
  readonly paths: PathTable;
  readonly totals: JourneyTotals;
}

/** The events PRAV reads, and the window they fill. Seconds since the epoch. */
export interface JourneyEvents {
  readonly events: EventTable;
  /** null where no event names a campaign, or there are too many to tell apart. */
  readonly campaigns: EventCampaigns | null;
  readonly tooManyCampaigns: boolean;
  readonly fromS: number;
  /** T1: the last moment of follow-up, inclusive: min(last stored event, end of the range + 14 days). */
  readonly untilS: number;
  /** Time of the last stored event of the source. */
  readonly observedUntilS: number;
}

/** A span of time, milliseconds since the epoch; the end is exclusive. */
export interface TimeSpan {
  readonly startMs: number;
  readonly endMs: number;
}

export const DAY_MS = 86_400_000;

/** @throws ProblemError `validation_error` when the days are no dates */
export function spanOf([start, end]: readonly [string, string]): TimeSpan {
  const span = { startMs: Date.parse(`${start}T00:00:00Z`), endMs: Date.parse(`${end}T00:00:00Z`) + DAY_MS };
  if (!(span.startMs < span.endMs))
    throw new ProblemError('validation_error', 'date_range: must be two dates, the first not after the second', {
      param: '/date_range',
      code: 'invalid_range',
    });
  return span;
}
