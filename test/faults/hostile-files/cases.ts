import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { seededRandom, type Random } from '../../../compute/numerics/random.ts';
import { below, mutated, oneOf } from './byte-mutations.ts';
import { gzipShapes, multipartOf, multipartShapes } from './containers.ts';
import { namedParquet, oddlyTypedParquet, PARQUET_ROWS, parquetFiles, unfoldingParquet } from './parquet-files.ts';
import { restructured, withPageFields } from './parquet-mutations.ts';
import {
  csvShapes,
  goodCsv,
  goodRows,
  hostileCsv,
  hostileRows,
  HOSTILE_NAMES,
  ndjsonOf,
  ndjsonShapes,
} from './text-files.ts';

export const FORMATS = ['csv', 'ndjson', 'json', 'graphql', 'parquet', 'gzip', 'multipart', 'connect'] as const;
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
}

export interface HostileCase extends Upload {
  readonly format: Format;
  readonly index: number;
}

const CSV = { 'content-type': 'text/csv' };
const NDJSON = { 'content-type': 'application/x-ndjson' };
const PARQUET = { 'content-type': 'application/vnd.apache.parquet' };
const JSON_TYPE = { 'content-type': 'application/json' };
const GZIP = { 'content-encoding': 'gzip' };
/** Larger files go out compressed, which makes them no smaller for whoever reads them. */
const PLAIN_BYTES = 1 << 20;
const BILLIONS = 2 ** 31 - 1;

type Make = (random: Random) => Upload;

function sent(
  how: string,
  bytes: Uint8Array | string,
  headers: Readonly<Record<string, string>>,
  rows?: number,
): Upload {
  const file = Buffer.from(bytes as string);
  const isLarge = file.length > PLAIN_BYTES;
  const body = isLarge ? gzipSync(file) : file;
  return { how, headers: { ...headers, ...(isLarge ? GZIP : {}) }, body, ...(rows === undefined ? {} : { rows }) };
}

const textShapes = (
  shapes: Readonly<Record<string, () => string>>,
  headers: Readonly<Record<string, string>>,
): Make[] =>
  Object.entries(shapes).map(
    ([how, text]) =>
      () =>
        sent(how, text(), headers),
  );

const smallCsvShapes: Readonly<Record<string, string>> = {
  nothing: '',
  'a mark of byte order': '\ufeff',
  'a line end': '\n',
  'a header': 'user_id,timestamp,channel\n',
  'NUL bytes': '\0'.repeat(1_000),
  'a quote': '"',
  'the header twice': 'user_id,timestamp,channel\nuser_id,timestamp,channel\n',
  'no such columns': 'a,b,c\n1,2,3\n',
  'a column three times': 'user_id,user_id,user_id,timestamp,channel\nu1,u2,u3,2025-06-01T10:00:00Z,email\n',
};
const badEncodings: Readonly<Record<string, Buffer>> = {
  'UTF-16': Buffer.from('\ufeffuser_id,timestamp,channel\nu1,2025-06-01T10:00:00Z,email\n', 'utf16le'),
  'bytes that are no UTF-8': Buffer.from(
    'user_id,timestamp,channel\n\xff\xfe\xc0\xaf,2025-06-01T10:00:00Z,\xed\xa0\x80\n',
    'latin1',
  ),
};

/** A small file that a reader may wait in for ever: for bytes that its pages do not have. */
export function endlessParquet(): Buffer {
  return withPageFields(parquetFiles['gzip, events']!, { '2': 65_536n });
}

/** Files of one kind that are each hostile in their own way; they come before the mutations. */
const SHAPES: Readonly<Record<Format, readonly Make[]>> = {
  csv: [
    ...Object.entries({ ...smallCsvShapes, ...badEncodings }).map(
      ([how, text]) =>
        () =>
          sent(how, text, CSV),
    ),
    ...HOSTILE_NAMES.map(
      (name) => () =>
        sent(
          `a column named ${JSON.stringify(name).slice(0, 40)}`,
          `user_id,timestamp,channel,"${name.replaceAll('"', '""')}"\nu1,2025-06-01T10:00:00Z,email,x\n`,
          CSV,
        ),
    ),
    ...HOSTILE_NAMES.map((name) => () => ({
      ...sent(
        `channel mapped to ${JSON.stringify(name).slice(0, 40)}`,
        `user_id,timestamp,"${name.replaceAll('"', '""')}"\nu1,2025-06-01T10:00:00Z,email\n`,
        CSV,
      ),
      mapping: { channel: name },
    })),
    ...textShapes(csvShapes(), CSV),
  ],
  ndjson: textShapes(ndjsonShapes(), NDJSON),
  json: textShapes(ndjsonShapes(0.004), JSON_TYPE),
  graphql: [
    () => ({
      ...sent(
        'rows of every kind of JSON',
        graphqlBody([1, null, [], 'x', { user_id: { toString: 1 } }, [[]]]),
        JSON_TYPE,
      ),
      door: 'graphql',
    }),
  ],
  parquet: [
    ...Object.entries(parquetFiles).map(
      ([how, file]) =>
        () =>
          sent(how, file, PARQUET, PARQUET_ROWS),
    ),
    ...Object.entries(oddlyTypedParquet()).map(
      ([how, file]) =>
        () =>
          sent(how, file, PARQUET, PARQUET_ROWS),
    ),
    ...HOSTILE_NAMES.map((name) => () => ({
      ...sent(`channel mapped to ${JSON.stringify(name).slice(0, 40)}`, namedParquet(name), PARQUET),
      mapping: { channel: name },
    })),
    () => sent('fifty million rows in a kilobyte', unfoldingParquet(50_000_000), PARQUET),
    () => sent('two billion rows in a kilobyte', unfoldingParquet(BILLIONS), PARQUET),
    () => sent('a hundred pages of two billion rows', unfoldingParquet(BILLIONS, 100), PARQUET),
    () => sent('a million rows with a name of 100,000 letters', unfoldingParquet(1_000_000, 1, 100_000), PARQUET),
    () =>
      sent(
        'pages of two gigabytes',
        withPageFields(parquetFiles['snappy, dictionaries']!, { '2': BigInt(BILLIONS) }),
        PARQUET,
      ),
    () => sent('compressed pages that are said to be larger than they are', endlessParquet(), PARQUET),
    () =>
      sent(
        'pages of less than nothing',
        withPageFields(parquetFiles['snappy, dictionaries']!, { '2': -1n, '3': -1n }),
        PARQUET,
      ),
    ...['', 'PAR1', 'PAR1PAR1', 'PAR1\xff\xff\xff\x7fPAR1', 'PAR1\0\0\0\0PAR1', 'PAREabcd\x04\0\0\0PARE'].map(
      (text) => () => sent(`the bytes ${JSON.stringify(text)}`, Buffer.from(text, 'latin1'), PARQUET),
    ),
  ],
  gzip: gzipShapes().map(({ how, body, rows }) => () => ({
    how,
    body,
    headers: { ...CSV, ...GZIP },
    ...(rows === undefined ? {} : { rows }),
  })),
  multipart: multipartShapes().map(({ how, body, contentType }) => () => ({
    how,
    body,
    headers: { 'content-type': contentType },
  })),
  connect: [
    ...HOSTILE_NAMES.map(
      (name) => () =>
        connect(`a mapping to ${JSON.stringify(name).slice(0, 40)}`, {
          content: 'user_id,timestamp,channel\nu1,2025-06-01T10:00:00Z,email\n',
          mapping: { channel: name },
        }),
    ),
    ...HOSTILE_NAMES.map(
      (name) => () =>
        connect(`a mapping of ${JSON.stringify(name).slice(0, 40)}`, {
          content: 'user_id,timestamp,channel\nu1,2025-06-01T10:00:00Z,email\n',
          mapping: { [name]: 'channel' },
        }),
    ),
    ...['"', '\n', '\\', ' ', 'u', '\0', '\ufeff', "'"].map(
      (delimiter) => () =>
        connect(`the delimiter ${JSON.stringify(delimiter)}`, {
          content: 'user_id,timestamp,channel\nu1,2025-06-01T10:00:00Z,email\n',
          delimiter,
        }),
    ),
    () => connect('base64 that is none', { content: '!!!!', encoding: 'base64' }),
    () =>
      connect('a Parquet file as base64', {
        filename: 'x.parquet',
        content: parquetFiles['snappy, dictionaries']!.toString('base64'),
        encoding: 'base64',
      }),
    () =>
      connect('a gzip bomb as base64', {
        filename: 'x.csv.gz',
        content: gzipSync(Buffer.alloc(50_000_000)).toString('base64'),
        encoding: 'base64',
      }),
  ],
};

function connect(how: string, credentials: object, rows?: number): Upload {
  const body = Buffer.from(JSON.stringify({ type: 'csv_upload', credentials }));
  return { how, door: 'connect', headers: JSON_TYPE, body, ...(rows === undefined ? {} : { rows }) };
}

const graphqlBody = (rows: readonly unknown[]): string =>
  JSON.stringify({
    query:
      'mutation Add($input: AddRecordsInput!) { addRecords(input: $input) { ' +
      'ingest { accepted rejected errors { line column code message } } } }',
    variables: { input: { dataSourceId: '$SOURCE', records: rows } },
  });

/** A good file of any format, as its type and bytes. */
function anyFile(random: Random): { readonly headers: Readonly<Record<string, string>>; readonly bytes: Buffer } {
  return oneOf(
    [
      () => ({ headers: CSV, bytes: Buffer.from(goodCsv(random).text) }),
      () => ({ headers: NDJSON, bytes: Buffer.from(ndjsonOf(goodRows(random)).text) }),
      () => ({ headers: PARQUET, bytes: oneOf(Object.values(parquetFiles), random) }),
    ],
    random,
  )();
}

/** Good files with damage in them, or files by the rules with hostile contents. */
const MUTATIONS: Readonly<Record<Format, Make>> = {
  csv: (random) => {
    const { text, rows } = hostileCsv(random);
    if (random() < 0.5) return sent('hostile cells', text, CSV, rows);
    const { bytes, how } = mutated(Buffer.from(text), random);
    return sent(how, bytes, CSV);
  },
  ndjson: (random) => {
    const { text, rows } = ndjsonOf(hostileRows(random));
    if (random() < 0.5) return sent('hostile values', text, NDJSON, rows);
    const { bytes, how } = mutated(Buffer.from(text), random);
    return sent(how, bytes, NDJSON);
  },
  json: (random) => {
    const rows = hostileRows(random);
    const text = JSON.stringify(random() < 0.5 ? rows : { records: rows });
    if (random() < 0.7) return sent('hostile values', text, JSON_TYPE, rows.length);
    const { bytes, how } = mutated(Buffer.from(text), random);
    return sent(how, bytes, JSON_TYPE);
  },
  graphql: (random) => {
    const rows = hostileRows(random);
    if (random() < 0.8)
      return { ...sent('hostile values', graphqlBody(rows), JSON_TYPE, rows.length), door: 'graphql' };
    const { bytes, how } = mutated(Buffer.from(graphqlBody(rows)), random);
    return { ...sent(how, bytes, JSON_TYPE), door: 'graphql' };
  },
  parquet: (random) => {
    const [name, file] = oneOf(Object.entries(parquetFiles), random);
    const { bytes, how } = (random() < 0.6 ? restructured : mutated)(file, random);
    return sent(`${name}: ${how}`, bytes, PARQUET);
  },
  gzip: (random) => {
    const { headers, bytes } = anyFile(random);
    const whole = gzipSync(bytes, { level: below(10, random) });
    const inner = random() < 0.3 ? gzipSync(mutated(bytes, random).bytes) : null;
    const { bytes: body, how } = inner === null ? mutated(whole, random) : { bytes: inner, how: 'damage inside' };
    return { how: `${headers['content-type']}: ${how}`, headers: { ...headers, ...GZIP }, body };
  },
  multipart: (random) => {
    const { headers, bytes } = anyFile(random);
    const file = random() < 0.3 ? mutated(bytes, random).bytes : bytes;
    const { body, contentType } = multipartOf(file, headers['content-type']!);
    const { bytes: damaged, how } = mutated(body, random);
    return { how: `${headers['content-type']}: ${how}`, headers: { 'content-type': contentType }, body: damaged };
  },
  connect: (random) => {
    const { text, rows } = hostileCsv(random);
    if (random() < 0.5) return connect('hostile cells', { content: text }, rows);
    const { bytes, how } = mutated(Buffer.from(text), random);
    return random() < 0.5
      ? connect(how, { content: bytes.toString('utf8') })
      : connect(how, { content: bytes.toString('base64'), encoding: 'base64' });
  },
};

/** How many shapes there are of a format before the mutations begin. */
export function shapesOf(format: Format): number {
  return SHAPES[format].length;
}

/** A case by its number, the same for the same seed. */
export function hostileCase(format: Format, seed: number, index: number): HostileCase {
  const random = seededRandom(createHash('sha256').update(`${seed}/${format}/${index}`).digest().readInt32LE());
  return { format, index, ...(SHAPES[format][index] ?? MUTATIONS[format])(random) };
}
