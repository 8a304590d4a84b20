import type { ExportFormat, ExportLevel, ReportFormat } from '../schema/value-lists.ts';

/** A file of an analysis: rows of a level, or its report. */
export type AskedFile =
  | { readonly level: ExportLevel; readonly format: ExportFormat }
  | { readonly level: 'report'; readonly format: ReportFormat };
export type DownloadFormat = AskedFile['format'];

/** What a download says it is. */
export const DOWNLOAD_MEDIA_TYPES: Readonly<Record<DownloadFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  parquet: 'application/vnd.apache.parquet',
  html: 'text/html; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};
