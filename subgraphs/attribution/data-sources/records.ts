import type { Principal } from '../../../platform/auth/principal.ts';
import type { Uuid } from '../../../platform/identifiers.ts';

/** Rows on their way in: their bytes, and what the bytes are. */
export interface RecordsBody {
  readonly mediaType: 'text/csv' | 'application/x-ndjson' | 'application/vnd.apache.parquet' | 'application/json';
  readonly contentEncoding: 'identity' | 'gzip';
  readonly body: AsyncIterable<Uint8Array>;
}

/** A row that was not taken: where it stands in the file and why. */
export interface RejectedRow {
  readonly uploadId: string | null;
  readonly line: number;
  readonly column: string;
  readonly code: string;
  readonly message: string;
}

/** What came of the rows of one request. */
export interface RecordsReport {
  readonly uploadId: string;
  readonly kind: string;
  readonly rowsAccepted: number;
  readonly rowsRejected: number;
  /** The first hundred. */
  readonly firstErrors: readonly Omit<RejectedRow, 'uploadId'>[];
  /** What else the sender should know. */
  readonly warnings: readonly string[];
}

/**
 * Streams rows into a source; filled by the touchpoints feature. When it resolves, every accepted row is stored.
 * @throws ProblemError `resource_not_found`, `validation_error` (unknown columns), `unsupported_media_type`.
 */
export type ReceiveRecords = (principal: Principal, dataSourceId: Uuid, records: RecordsBody) => Promise<RecordsReport>;
