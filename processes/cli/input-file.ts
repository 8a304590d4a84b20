import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { RecordMediaType } from '../../subgraphs/attribution/intake/connectors/records-body.ts';
import { BadInputError } from './bad-input-error.ts';

/** A file to analyse, and what its name says of its content. */
export interface InputFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly mediaType: RecordMediaType;
  readonly contentEncoding: 'gzip' | 'identity';
}

const MEDIA_TYPES: Readonly<Record<string, InputFile['mediaType']>> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  txt: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  json: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/**
 * Looks at a file without reading it. @throws BadInputError when it is missing, no file, empty, or of an unknown type.
 */
export async function inputFile(path: string): Promise<InputFile> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'ENOENT'
        ? 'there is no such file. Check the path'
        : `it cannot be opened (${error.code ?? error.message}). Check its permissions`;
    throw new BadInputError(`${path}: ${reason}.`, { cause: error });
  });
  if (!found.isFile())
    throw new BadInputError(
      `${path}: this is not a file. Name the files inside it, for example ${path.replace(/\/$/, '')}/*.csv.`,
    );
  if (found.size === 0) throw new BadInputError(`${path}: the file is empty. Export it again.`);
  const name = basename(path);
  const [, extension = '', gzip] = /\.([^.]+?)(\.gz)?$/i.exec(name) ?? [];
  const mediaType = MEDIA_TYPES[extension.toLowerCase()];
  if (mediaType === undefined)
    throw new BadInputError(
      `${path}: unknown type of file. Give .csv, .tsv, .txt, .ndjson, .jsonl, .json, .parquet or .xlsx, ` +
        `plain or with .gz.`,
    );
  return { path, name, bytes: found.size, mediaType, contentEncoding: gzip === undefined ? 'identity' : 'gzip' };
}
