import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { FileQuality } from '../data-sources/upload.ts';

/** What came of one file, and what its reader said of it. */
export interface UploadQuality {
  readonly id: string;
  /** Kind of its rows. */
  readonly kind: string;
  readonly rowsAccepted: number;
  readonly rowsRejected: number;
  readonly found: FileQuality;
  /** Rows that were rejected for their currency, by currency; of the first thousand rejects of the file. */
  readonly foreignRows: ReadonlyMap<string, number>;
  /** How many of its rejects are kept. */
  readonly keptRejects: number;
}

/** An upload as the ingest record has it. */
export type RecordedUpload = Omit<UploadQuality, 'foreignRows' | 'keptRejects'>;

/** Of the newest so many files of a source something is known to be wrong; older ones are not looked at. */
const MOST_UPLOADS = 200;

/**
 * The uploads of sources that hold days of a range and of which something is to be said. A file that was sent again
 * stands in for the earlier one: later, of the same kind, over the same days, with at least as many rows taken.
 */
export async function uploadsWithFindings(
  em: SqlEntityManager,
  dataSourceIds: readonly Uuid[],
  [start, end]: readonly [string, string],
): Promise<readonly RecordedUpload[]> {
  const rows = await em.execute<
    { id: string; kind: string; rows_accepted: number; rows_rejected: number; quality: FileQuality | null }[]
  >(
    `select id, kind, rows_accepted, rows_rejected, quality from attribution.uploads told
      where data_source_id = any (?::text::uuid[]) and status in ('completed', 'failed') and kind is not null
        and (rows_rejected > 0 or quality is not null)
        and coalesce(quality ->> 'firstDay', ?) <= ? and coalesce(quality ->> 'lastDay', ?) >= ?
        and not exists (
          select 1 from attribution.uploads later
            where later.data_source_id = told.data_source_id and later.status = 'completed' and later.kind = told.kind
              and later.started_at > told.started_at
              and later.rows_accepted >= greatest(told.rows_accepted, 1)
              and (told.quality ->> 'firstDay' is null or (
                later.quality ->> 'firstDay' <= told.quality ->> 'firstDay'
                and later.quality ->> 'lastDay' >= told.quality ->> 'lastDay')))
      order by started_at desc, id desc limit ${MOST_UPLOADS}`,
    [`{${dataSourceIds.join(',')}}`, start, end, end, start],
  );
  return rows.map(({ id, kind, rows_accepted, rows_rejected, quality }) => ({
    id,
    kind,
    rowsAccepted: Number(rows_accepted),
    rowsRejected: Number(rows_rejected),
    found: quality ?? {},
  }));
}
