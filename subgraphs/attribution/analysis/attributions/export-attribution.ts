import { ProblemError } from '../../../../schema/problems.ts';
import type { ExportFormat, ExportLevel } from '../../../../schema/value-lists.ts';
import type { Principal } from '../../../../schema/principal.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { channelNamingOf } from '../../intake/channel-rules/channel-rule-store.ts';
import { DataSourceStore } from '../../intake/data-sources/data-source-store.ts';
import { withoutGaps } from '../../intake/touchpoints/named-rows.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';
import { JourneyStore } from '../journeys/journey-store.ts';
import { tableFile } from '../journeys/table-file.ts';
import type { Attribution } from './attribution.ts';
import { isFinished } from '../../runs/run.ts';
import { requireRun } from '../../runs/run-table.ts';
import { ATTRIBUTION_RUNS } from './attribution.ts';
import { exportedTable } from './exported-tables.ts';
import { publicationOf } from './published-figures.ts';

export interface ExportRequest {
  readonly format: ExportFormat;
  readonly level: ExportLevel;
  /** Ends the work when nobody waits for it any more. */
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
}

/**
 * A completed analysis as a file, in constant memory. Level `paths` reads the journeys of the analysis from the store
 * as it is now, by the channel rules in force: same range, lookback and conversion event, and only paths that touch a
 * channel it was restricted to. Resolves when the file is complete, so that nothing fails half-way.
 * @throws ProblemError `resource_not_found`, `conflict` (not_ready), `data_source_unavailable` (deleted),
 * `validation_error` (no such level).
 */
export async function exportAttribution(
  { database, clickhouse }: ExportServices,
  principal: Principal,
  id: Uuid,
  { format, level, signal }: ExportRequest,
): Promise<ExportedFile> {
  const { attribution, source, naming } = await database.asTenant(principal, async (em) => {
    const attribution = await requireRun(em, ATTRIBUTION_RUNS, id);
    const { dataSourceId } = attribution;
    return {
      attribution,
      source: await new DataSourceStore(em).find(dataSourceId),
      naming: await channelNamingOf(em, dataSourceId),
    };
  });
  const { status, figures } = publicationOf(attribution);
  if (figures === null)
    throw new ProblemError(
      'conflict',
      `The analysis is ${status} and has no figures${isFinished(attribution) ? '' : ' yet'}.`,
      { code: 'not_ready' },
    );
  if (level === 'paths' && source === null)
    throw new ProblemError(
      'data_source_unavailable',
      'The data source was deleted, and its journeys with it. The other levels are still there.',
      { code: 'deleted', param: 'query:level' },
    );
  const body =
    level === 'paths'
      ? await pathsOf(
          clickhouse,
          { accountId: source!.accountId, dataSourceId: attribution.dataSourceId, naming },
          attribution,
          format,
          signal,
        )
      : await tableFile(clickhouse, exportedTable(attribution, figures, level), format, signal);
  return { fileName: `liftgraph-${publicId('attr', id)}-${level}.${format}`, body };
}

async function pathsOf(
  clickhouse: ClickHouse,
  source: SourceKey,
  attribution: Attribution,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { dateStart, dateEnd, lookbackWindowDays, conversionEvent, channels } = attribution;
  const store = new JourneyStore(clickhouse, {
    ...(await withoutGaps(clickhouse, source)),
    dateRange: [dateStart, dateEnd],
    lookbackDays: lookbackWindowDays,
    conversionEvent,
  });
  return store.pathFile(format, channels ?? null, signal);
}
