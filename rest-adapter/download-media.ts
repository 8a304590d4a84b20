/** Formats and levels of a download. */
export const DOWNLOAD_FORMATS = ['csv', 'ndjson', 'json', 'parquet'] as const;
export type DownloadFormat = (typeof DOWNLOAD_FORMATS)[number];
export const DOWNLOAD_LEVELS = ['channels', 'periods', 'campaigns', 'paths'] as const;
export type DownloadLevel = (typeof DOWNLOAD_LEVELS)[number];

export const DOWNLOAD_MEDIA_TYPES: Readonly<Record<DownloadFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  parquet: 'application/vnd.apache.parquet',
};
