import type { ExportFormat } from '../schema/value-lists.ts';

/** What a download says it is. */
export const DOWNLOAD_MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  parquet: 'application/vnd.apache.parquet',
};
