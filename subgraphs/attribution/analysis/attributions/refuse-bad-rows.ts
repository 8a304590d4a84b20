import type { QualityCode } from '../../../../schema/contract/data-quality.ts';
import type { Principal } from '../../../../schema/principal.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { isPassing } from '../../../../platform/clickhouse/outage.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import type { DataSource } from '../../intake/data-sources/data-source.ts';
import { joinedCurrency, type Joined } from '../../intake/data-sources/joined-sources.ts';
import type { DateRange } from '../../intake/data-sources/date-range.ts';
import type { MeasureQuality } from '../../intake/quality/measure-quality.ts';
import { uploadsWithFindings } from '../../intake/quality/upload-quality.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';
import { refuseBlocking } from './quality-gate.ts';

export interface QualityServices {
  readonly database: Database;
  readonly measureQuality: MeasureQuality;
}

interface AskedRange {
  /** The sources, to be read as their channel rules say. */
  readonly key: SourceKey;
  /** Where the request names them, as a JSON Pointer. */
  readonly param: string;
  readonly dateRange: DateRange;
  readonly conversionEvent: string;
  readonly baselineChannels: readonly string[];
  readonly accepted: readonly QualityCode[] | undefined;
}

/** What the source's own statistics must show for its rows to be measured before a run is accepted. */
const SUSPECT = { matchRate: 0.7, rejected: 0.01, duplicates: 0.01 } as const;

/** A run measures the rows, too: it need not be waited for here while the engine does not answer. */
const PATIENCE_MS = 3_000;

/**
 * Refuses an analysis whose rows are known to be bad. Sources that look well are measured by the run itself, which
 * fails where it finds what is blocking.
 * @throws ProblemError `validation_error` with code `data_quality_insufficient`
 */
export async function refuseBadRows(
  { database, measureQuality }: QualityServices,
  principal: Principal,
  sources: Joined<DataSource>,
  { key, param, dateRange, conversionEvent, baselineChannels, accepted }: AskedRange,
): Promise<void> {
  if (!sources.some(isSuspect)) return;
  const range = [dateRange.start, dateRange.end] as const;
  const uploads = await database.asTenant(principal, (em) =>
    uploadsWithFindings(
      em,
      sources.map(({ id }) => id as Uuid),
      range,
    ),
  );
  const query = { ...key, dateRange: range, conversionEvent };
  const context = { uploads, currency: joinedCurrency(sources), baselineChannels };
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const quality = await measureQuality(query, context, patience).catch((error: unknown) => {
    if (patience.aborted || isPassing(error)) return null;
    throw error;
  });
  if (quality !== null) refuseBlocking(quality, accepted, param);
}

function isSuspect({ statistics, rowsRejected }: DataSource): boolean {
  if (statistics == null || statistics.conversions === 0) return false;
  return (
    (statistics.touchpoints > 0 && statistics.touchpointMatchRate < SUSPECT.matchRate) ||
    Number(rowsRejected) > SUSPECT.rejected * statistics.conversions ||
    statistics.duplicateRate > SUSPECT.duplicates
  );
}
