import type { UploadOptions } from '../../../../schema/contract/upload-options.ts';

/** What rows may be sent as. `application/json` is an array of at most 1000 rows. */
export const RECORD_MEDIA_TYPES = [
  'text/csv',
  'application/x-ndjson',
  'application/vnd.apache.parquet',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/json',
] as const;
export type RecordMediaType = (typeof RECORD_MEDIA_TYPES)[number];

/** Rows on their way in: their bytes, what the bytes are, and what the sender says of them. */
export interface RecordsBody {
  readonly mediaType: RecordMediaType;
  readonly contentEncoding: 'identity' | 'gzip';
  readonly options?: UploadOptions;
  readonly body: AsyncIterable<Uint8Array>;
}
