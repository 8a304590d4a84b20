import type { EventTable, PathTable } from '../../../compute/journey-tables.ts';
import type { SourceKey } from '../touchpoints/source-key.ts';

/** Which journeys a run asks for. */
export interface JourneyQuery extends SourceKey {
  /** First and last UTC day, both inclusive, `YYYY-MM-DD`. */
  readonly dateRange: readonly [string, string];
  readonly lookbackDays: number;
  /** Only touches of these channels take part; all when absent. */
  readonly channels?: readonly string[];
  readonly conversionEvent: string;
}

/** Counts of a path table. Money in major units, exact to 4 decimals. */
export interface JourneyTotals {
  /** Journeys with at least one touch, converting or not. */
  readonly journeys: number;
  readonly convertingJourneys: number;
  /** All conversions in range, those without a touch included. */
  readonly conversions: number;
  readonly revenue: number;
  /** Conversions that no touch precedes within the lookback. */
  readonly unattributedConversions: number;
  readonly unattributedRevenue: number;
  /** Touches dated inside the range; null for a paths file, which has none. */
  readonly touches: number | null;
}

export interface JourneyPaths {
  readonly paths: PathTable;
  readonly totals: JourneyTotals;
}

/** The events PRAV reads, and the window they fill. Seconds since the epoch. */
export interface JourneyEvents {
  readonly events: EventTable;
  readonly fromS: number;
  /** T1: the last moment of follow-up, inclusive: min(last stored event, end of the range + 14 days). */
  readonly untilS: number;
  /** Time of the last stored event of the source. */
  readonly observedUntilS: number;
}
