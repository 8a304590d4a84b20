import { ProblemError } from '../schema/problems.ts';
import type { RecordUpload } from './call.ts';
import { nameOfPart, type FilePart } from './multipart.ts';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const MEDIA_TYPES: Readonly<Record<string, RecordUpload['mediaType']>> = {
  'text/csv': 'text/csv',
  'text/tab-separated-values': 'text/csv',
  'application/x-ndjson': 'application/x-ndjson',
  'application/ndjson': 'application/x-ndjson',
  'application/jsonl': 'application/x-ndjson',
  'application/vnd.apache.parquet': 'application/vnd.apache.parquet',
  [XLSX]: XLSX,
};

/** By which a file goes, without its other names. */
export const FILE_MEDIA_TYPES: readonly string[] = [...new Set(Object.values(MEDIA_TYPES))];

const EXTENSIONS: Readonly<Record<string, RecordUpload['mediaType']>> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  txt: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  json: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  xlsx: XLSX,
};

/**
 * What a body is that is a file.
 * @throws ProblemError `unsupported_media_type`
 */
export function bodyMediaType(essence: string): RecordUpload['mediaType'] {
  const known = MEDIA_TYPES[essence];
  if (known !== undefined) return known;
  throw new ProblemError(
    'unsupported_media_type',
    'Send text/csv, application/x-ndjson, application/vnd.apache.parquet, a workbook (.xlsx), application/json or ' +
      'multipart/form-data.',
    { param: 'header:Content-Type' },
  );
}

/**
 * What a file in a form is, by its media type or else by its name: browsers send whatever the system makes of an
 * extension.
 * @throws ProblemError `unsupported_media_type`
 */
export function partMediaType({ mediaType, fileName, param }: FilePart): RecordUpload['mediaType'] {
  const extension = fileName.toLowerCase().replace(/\.gz$/, '').split('.').at(-1) ?? '';
  const known = MEDIA_TYPES[mediaType] ?? EXTENSIONS[extension];
  if (known !== undefined) return known;
  throw new ProblemError(
    'unsupported_media_type',
    `${nameOfPart(param)}: a file in a form must be text/csv, application/x-ndjson, ` +
      'application/vnd.apache.parquet or a workbook (.xlsx), by its media type or its name. Send rows as JSON ' +
      'without a form, as ' +
      'application/json.',
    { param },
  );
}

/** The compression of a body that is sent as a file. */
export function uploadEncoding(header: string): RecordUpload['contentEncoding'] {
  const encoding = header.trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return 'identity';
  if (encoding === 'gzip' || encoding === 'x-gzip') return 'gzip';
  throw new ProblemError('unsupported_media_type', 'Content-Encoding may be gzip or identity.', {
    code: 'unsupported_encoding',
    param: 'header:Content-Encoding',
  });
}
