import { gzipSync } from 'node:zlib';
import { gzipShapes, multipartShapes } from './containers.ts';
import { namedParquet, oddlyTypedParquet, PARQUET_ROWS, parquetFiles, unfoldingParquet } from './parquet-files.ts';
import { withPageFields } from './parquet-mutations.ts';
import { csvShapes, HOSTILE_NAMES, ndjsonShapes } from './text-files.ts';
import { WORKBOOK, workbookShapes } from './workbook-shapes.ts';

export const FORMATS = ['csv', 'ndjson', 'json', 'graphql', 'parquet', 'xlsx', 'gzip', 'multipart', 'connect'] as const;
export type Format = (typeof FORMATS)[number];

/** What is sent, where to, and what is known of it. */
export interface Upload {
  readonly how: string;
  /** `/records` unless it says otherwise; in a GraphQL body `$SOURCE` stands for the source. */
  readonly door?: 'graphql' | 'connect';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Given to the source when it is connected, before the file is sent. */
  readonly mapping?: Readonly<Record<string, string>>;
  /** Of a file that can be read: accepted and rejected add up to it. */
  readonly rows?: number;
  /** Costs whoever reads it much; one of them at a time is enough. */
  readonly isHeavy?: boolean;
}

type Headers = Upload['headers'];

export const CSV = { 'content-type': 'text/csv' };
export const NDJSON = { 'content-type': 'application/x-ndjson' };
export const PARQUET = { 'content-type': 'application/vnd.apache.parquet' };
export const JSON_TYPE = { 'content-type': 'application/json' };
export const GZIP = { 'content-encoding': 'gzip' };
/** Larger files go out compressed, which makes them no smaller for whoever reads them. */
const PLAIN_BYTES = 1 << 20;
const HEAVY_BYTES = 1 << 17;
const BILLIONS = 2 ** 31 - 1;
/** Each of these needs a source of its own. */
const MAPPED_NAMES = HOSTILE_NAMES.slice(0, 12);
const LINE = 'u1,2025-06-01T10:00:00Z,email\n';

export function sent(how: string, bytes: Uint8Array | string, headers: Headers, rows?: number): Upload {
  const file = Buffer.from(bytes as string);
  const isLarge = file.length > PLAIN_BYTES;
  return {
    how,
    headers: { ...headers, ...(isLarge ? GZIP : {}) },
    body: isLarge ? gzipSync(file) : file,
    isHeavy: file.length > HEAVY_BYTES,
    ...(rows === undefined ? {} : { rows }),
  };
}

export function connect(how: string, credentials: object, rows?: number): Upload {
  return { ...sent(how, JSON.stringify({ type: 'csv_upload', credentials }), JSON_TYPE, rows), door: 'connect' };
}

export function addRecords(how: string, records: readonly unknown[], rows?: number): Upload {
  const query =
    'mutation Add($input: AddRecordsInput!) { addRecords(input: $input) { ' +
    'ingest { accepted rejected errors { line column code message } } } }';
  const body = JSON.stringify({ query, variables: { input: { dataSourceId: '$SOURCE', records } } });
  return { ...sent(how, body, JSON_TYPE, rows), door: 'graphql' };
}

/** A small file that a reader may wait in for ever: for bytes that its pages do not have. */
export function endlessParquet(): Buffer {
  return withPageFields(parquetFiles['gzip, events']!, { '2': 65_536n });
}

type Shape = () => Upload;

/** One shape of each entry. */
function each<T>(entries: Readonly<Record<string, T>>, make: (how: string, value: T) => Upload): Shape[] {
  return Object.entries(entries).map(
    ([how, value]) =>
      () =>
        make(how, value),
  );
}
const shown = (name: string): string => JSON.stringify(name).slice(0, 40);
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const heavy = (upload: Upload): Upload => ({ ...upload, isHeavy: true });

const smallCsvFiles: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'a mark of byte order': '\ufeff',
  'a line end': '\n',
  'a header': 'user_id,timestamp,channel\n',
  'NUL bytes': '\0'.repeat(1_000),
  'a quote': '"',
  'the header twice': 'user_id,timestamp,channel\nuser_id,timestamp,channel\n',
  'no such columns': 'a,b,c\n1,2,3\n',
  'a column three times': 'user_id,user_id,user_id,timestamp,channel\nu1,u2,u3,2025-06-01T10:00:00Z,email\n',
  'UTF-16': Buffer.from(`\ufeffuser_id,timestamp,channel\n${LINE}`, 'utf16le'),
  'no UTF-8': Buffer.from('user_id,timestamp,channel\n\xff\xfe\xc0\xaf,2025-06-01T10:00:00Z,\xed\xa0\x80\n', 'latin1'),
};

const unfoldingFiles: Readonly<Record<string, () => Buffer>> = {
  'fifty million rows in a kilobyte': () => unfoldingParquet(50_000_000),
  'two billion rows in a kilobyte': () => unfoldingParquet(BILLIONS),
  'a hundred pages of two billion rows': () => unfoldingParquet(BILLIONS, 100),
  'a million rows with a name of 100,000 letters': () => unfoldingParquet(1_000_000, 1, 100_000),
  'pages of two gigabytes': () => withPageFields(parquetFiles['snappy, dictionaries']!, { '2': BigInt(BILLIONS) }),
  'compressed pages that are said to be larger than they are': endlessParquet,
};

const tinyParquetFiles = ['', 'PAR1', 'PAR1PAR1', 'PAR1\xff\xff\xff\x7fPAR1', 'PAR1\0\0\0\0PAR1', 'PARE\x01\0\0\0PARE'];

/** Files of one kind that are each hostile in their own way. */
export const SHAPES: Readonly<Record<Format, readonly Shape[]>> = {
  csv: [
    ...each(smallCsvFiles, (how, file) => sent(how, file, CSV)),
    ...HOSTILE_NAMES.map((name) => (): Upload => {
      const header = `user_id,timestamp,channel,${quoted(name)}\n`;
      return sent(`a column named ${shown(name)}`, `${header}u1,2025-06-01T10:00:00Z,email,x\n`, CSV);
    }),
    ...MAPPED_NAMES.map((name) => (): Upload => {
      const file = `user_id,timestamp,${quoted(name)}\n${LINE}`;
      return { ...sent(`channel mapped to ${shown(name)}`, file, CSV), mapping: { channel: name } };
    }),
    ...each(csvShapes(), (how, text) => sent(how, text(), CSV)),
  ],
  ndjson: each(ndjsonShapes(), (how, text) => sent(how, text(), NDJSON)),
  json: each(ndjsonShapes(0.004), (how, text) => sent(how, text(), JSON_TYPE)),
  graphql: [() => addRecords('rows of every kind of JSON', [1, null, [], 'x', { user_id: { toString: 1 } }, [[]]])],
  parquet: [
    ...each({ ...parquetFiles, ...oddlyTypedParquet() }, (how, file) => sent(how, file, PARQUET, PARQUET_ROWS)),
    ...MAPPED_NAMES.map((name) => (): Upload => {
      const upload = sent(`channel mapped to ${shown(name)}`, namedParquet(name), PARQUET);
      return { ...upload, mapping: { channel: name } };
    }),
    ...each(unfoldingFiles, (how, file) => heavy(sent(how, file(), PARQUET))),
    () => {
      const file = withPageFields(parquetFiles['snappy, dictionaries']!, { '2': -1n, '3': -1n });
      return sent('pages of less than nothing', file, PARQUET);
    },
    ...tinyParquetFiles.map((text) => () => sent(`the bytes ${shown(text)}`, Buffer.from(text, 'latin1'), PARQUET)),
  ],
  xlsx: each(workbookShapes, (how, file) => heavy(sent(how, file(), WORKBOOK))),
  gzip: gzipShapes().map((shape) => () => ({
    ...shape,
    headers: { ...CSV, ...GZIP },
    isHeavy: shape.how.includes('gigabyte') || shape.how.includes('thousand'),
  })),
  multipart: multipartShapes().map(({ how, body, contentType }) => () => {
    return { how, body, headers: { 'content-type': contentType }, isHeavy: body.length > HEAVY_BYTES };
  }),
  connect: [
    ...MAPPED_NAMES.flatMap((name) => {
      const content = `user_id,timestamp,channel\n${LINE}`;
      return [{ channel: name }, { [name]: 'channel' }].map(
        (mapping) => () => connect(`the mapping ${JSON.stringify(mapping).slice(0, 60)}`, { content, mapping }),
      );
    }),
    ...['"', '\n', '\\', ' ', 'u', '\0', '\ufeff', "'"].map(
      (delimiter) => () =>
        connect(`the delimiter ${shown(delimiter)}`, { content: `user_id,timestamp,channel\n${LINE}`, delimiter }),
    ),
    () => connect('base64 that is none', { content: '!!!!', encoding: 'base64' }),
    () => {
      const content = parquetFiles['snappy, dictionaries']!.toString('base64');
      return connect('a Parquet file as base64', { filename: 'x.parquet', content, encoding: 'base64' });
    },
    () => {
      const content = gzipSync(Buffer.alloc(50_000_000)).toString('base64');
      return heavy(connect('a gzip bomb as base64', { filename: 'x.csv.gz', content, encoding: 'base64' }));
    },
  ],
};
