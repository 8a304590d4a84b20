/** Rows on their way in: their bytes, and what the bytes are. */
export interface RecordsBody {
  readonly mediaType: 'text/csv' | 'application/x-ndjson' | 'application/vnd.apache.parquet' | 'application/json';
  readonly contentEncoding: 'identity' | 'gzip';
  readonly body: AsyncIterable<Uint8Array>;
}
