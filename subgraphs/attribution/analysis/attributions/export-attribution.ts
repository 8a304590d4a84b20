import { ProblemError } from '../../../../schema/problems.ts';
import type { ExportFormat, ExportLevel } from '../../../../schema/value-lists.ts';
import type { Principal } from '../../../../schema/principal.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { ResultTooLargeError } from '../../../../platform/clickhouse/outage.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { namedKey } from '../../intake/channel-rules/channel-rule-store.ts';
import { findSources, sourceIdsOf } from '../../intake/data-sources/joined-sources.ts';
import { readTogether } from '../../intake/touchpoints/read-together.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';
import { JourneyStore } from '../journeys/journey-store.ts';
import type { FileLimits } from '../journeys/file-format.ts';
import { tableFile } from '../journeys/table-file.ts';
import type { Attribution } from './attribution.ts';
import { requireRun } from '../../runs/run-table.ts';
import { ATTRIBUTION_RUNS } from './attribution.ts';
import { exportedTable } from './exported-tables.ts';
import type { OpenExports } from './open-exports.ts';
import { requireFigures } from './published-figures.ts';

export interface ExportRequest {
  readonly format: ExportFormat;
  readonly level: ExportLevel;
  /** Aborts when nobody waits for the file any more, or its last byte has gone: ends the work, and its place. */
  readonly signal: AbortSignal;
}

/** A file on its way out. */
export interface ExportedFile {
  /** Plain ASCII. */
  readonly fileName: string;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface ExportServices {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly openExports: OpenExports;
  /** Of a file; {@link MAX_BYTES} when absent. */
  readonly maxBytes?: number;
}

/**
 * Of a file. Four million paths of eight steps take 0.7 GB as JSON and 31 MB as Parquet: ten million are within it in
 * any format.
 */
const MAX_BYTES = 2 * 1024 ** 3;

/**
 * A completed analysis as a file, in constant memory. Level `paths` reads the journeys of the analysis from the store
 * as it is now, by the channel rules in force: same range, lookback and conversion event, and only paths that touch a
 * channel it was restricted to. Resolves when the file is complete, so that nothing fails half-way.
 * @throws ProblemError `resource_not_found`, `conflict` (not_ready), `data_source_unavailable` (deleted),
 * `validation_error` (no such level; export_too_large), `rate_limit_exceeded` (too many exports of the account open),
 * `service_unavailable` (disk_nearly_full, disk_full).
 */
export async function exportAttribution(
  services: ExportServices,
  principal: Principal,
  id: Uuid,
  request: ExportRequest,
): Promise<ExportedFile> {
  // It waits on the disk for its reader.
  services.database.refuseWithoutRoom();
  const leave = services.openExports.enter(principal.accountId, request.signal);
  try {
    return await writtenFile(services, principal, id, request);
  } catch (error) {
    leave();
    throw refusalOf(error, services.maxBytes);
  }
}

async function writtenFile(
  { database, clickhouse, maxBytes = MAX_BYTES }: ExportServices,
  principal: Principal,
  id: Uuid,
  { format, level, signal }: ExportRequest,
): Promise<ExportedFile> {
  const { attribution, source } = await database.asTenant(principal, async (em) => {
    const attribution = await requireRun(em, ATTRIBUTION_RUNS, id);
    const sources = await findSources(em, sourceIdsOf(attribution));
    return { attribution, source: sources === null ? null : await namedKey(em, sources) };
  });
  const figures = requireFigures(attribution);
  if (level === 'paths' && source === null)
    throw new ProblemError(
      'data_source_unavailable',
      'The data source was deleted, and its journeys with it. The other levels are still there.',
      { code: 'deleted', param: 'query:level' },
    );
  const options = { account: principal.accountId, maxBytes, signal };
  const body =
    level === 'paths'
      ? await pathsOf(clickhouse, source!, attribution, format, options)
      : await tableFile(clickhouse, exportedTable(attribution, figures, level), format, options);
  return { fileName: `liftgraph-${publicId('attr', id)}-${level}.${format}`, body };
}

async function pathsOf(
  clickhouse: ClickHouse,
  source: SourceKey,
  attribution: Attribution,
  format: ExportFormat,
  options: FileLimits,
): Promise<AsyncIterable<Uint8Array>> {
  const { dateStart, dateEnd, lookbackWindowDays, conversionEvent, channels } = attribution;
  const store = new JourneyStore(clickhouse, {
    ...(await readTogether(clickhouse, source)).source,
    dateRange: [dateStart, dateEnd],
    lookbackDays: lookbackWindowDays,
    conversionEvent,
  });
  return store.pathFile(format, channels ?? null, options);
}

function refusalOf(error: unknown, maxBytes = MAX_BYTES): unknown {
  if (error instanceof ResultTooLargeError)
    return new ProblemError(
      'validation_error',
      `level: the file would be larger than ${maxBytes / 1024 ** 2} MiB. Ask for Parquet, for another level, or for ` +
        'an analysis of a shorter range.',
      { code: 'export_too_large', param: 'query:level', cause: error },
    );
  if (error instanceof ProblemError && error.problem.code === 'disk_full')
    return new ProblemError(
      'service_unavailable',
      'The disk of the service has no room for this file now, beside others that wait to be read. Read your open ' +
        'exports first, ask for Parquet or another level, or try again later.',
      { code: 'disk_full', retryAfterS: 30, cause: error },
    );
  return error;
}
