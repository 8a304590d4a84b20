import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { ByteWriter, parquetWriteBuffer, type ColumnSource, type ParquetWriteOptions } from 'hyparquet-writer';
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js';
import { varintOf } from './thrift-sites.ts';

const ROWS = 40;
const CHANNELS = ['meta_ads', 'google_ads', 'email', 'direct'];
const startMs = Date.UTC(2025, 5, 1);
const list = <T>(value: (row: number) => T): T[] => Array.from({ length: ROWS }, (_, row) => value(row));

const dates = list((row) => new Date(startMs + row * 3_600_000));
const users: ColumnSource = { name: 'user_id', data: list((row) => `u${row % 9}`), type: 'STRING' };
const channels: ColumnSource = { name: 'channel', data: list((row) => CHANNELS[row % 4]!), type: 'STRING' };
const times: ColumnSource = { name: 'timestamp', data: dates, type: 'TIMESTAMP' };
const timeTexts: ColumnSource = { name: 'timestamp', data: dates.map((date) => date.toISOString()), type: 'STRING' };
const costs: ColumnSource = { name: 'cost', data: list((row) => row / 8), type: 'DOUBLE' };
const isConversion = (row: number): boolean => row % 5 === 4;
const conversions: ColumnSource = { name: 'conversion', data: list((row) => Number(isConversion(row))), type: 'INT32' };
const revenues: ColumnSource = {
  name: 'revenue',
  data: list((row) => (isConversion(row) ? 20 + row : null)),
  type: 'DOUBLE',
};
const campaigns: ColumnSource = {
  name: 'campaign',
  data: list((row) => (row % 3 === 0 ? null : 'spring')),
  type: 'STRING',
};

/** How many rows each of {@link parquetFiles} has. */
export const PARQUET_ROWS = ROWS;

function written(columnData: ColumnSource[], options: Omit<ParquetWriteOptions, 'writer' | 'columnData'> = {}): Buffer {
  return Buffer.from(parquetWriteBuffer({ columnData, ...options }));
}

const compact = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
const required = (column: ColumnSource): ColumnSource => ({ ...column, nullable: false });
const encoded = (column: ColumnSource, encoding: ColumnSource['encoding'] & string): ColumnSource => ({
  ...column,
  encoding,
});

/** Good files, in the shapes that writers of Parquet make. */
export const parquetFiles: Readonly<Record<string, Buffer>> = {
  'snappy, dictionaries': written([users, times, channels, costs]),
  'plain, uncompressed, required': written(
    [users, timeTexts, channels].map((column) => encoded(required(column), 'PLAIN')),
    { codec: 'UNCOMPRESSED' },
  ),
  'gzip, events': written([users, times, channels, campaigns, conversions, revenues], {
    codec: 'GZIP',
    compressors: { GZIP: (bytes) => compact(gzipSync(bytes)) },
  }),
  'zstd, row groups of seven, small pages, indexes': written(
    [users, times, channels, campaigns].map((column) => ({ ...column, columnIndex: true })),
    {
      codec: 'ZSTD',
      compressors: { ZSTD: (bytes) => compact(zstdCompressSync(bytes)) },
      rowGroupSize: 7,
      pageSize: 16,
    },
  ),
  'brotli, bloom filters': written([{ ...users, bloomFilter: true }, times, channels], {
    codec: 'BROTLI',
    compressors: { BROTLI: (bytes) => compact(brotliCompressSync(bytes)) },
  }),
  'delta encodings': written(
    [
      encoded(required(users), 'DELTA_BYTE_ARRAY'),
      encoded(required(times), 'DELTA_BINARY_PACKED'),
      encoded(required(channels), 'DELTA_LENGTH_BYTE_ARRAY'),
      encoded(required(costs), 'BYTE_STREAM_SPLIT'),
    ],
    { codec: 'UNCOMPRESSED' },
  ),
  'orders, decimals': written(
    [
      { name: 'order_id', data: list((row) => `o${row}`) },
      { name: 'user_id', data: users.data },
      { name: 'timestamp', data: dates },
      { name: 'revenue', data: list((row) => 20.5 + row) },
    ],
    {
      schema: [
        { name: 'root', num_children: 4 },
        { name: 'order_id', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
        { name: 'user_id', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
        { name: 'timestamp', type: 'INT64', converted_type: 'TIMESTAMP_MICROS', repetition_type: 'REQUIRED' },
        {
          name: 'revenue',
          type: 'FIXED_LEN_BYTE_ARRAY',
          type_length: 8,
          converted_type: 'DECIMAL',
          scale: 2,
          precision: 16,
          repetition_type: 'REQUIRED',
        },
      ],
    },
  ),
};

/** A file of touchpoints in which a column has another name. */
export function namedParquet(name: string): Buffer {
  return written([users, times, { ...channels, name }]);
}

/** A good file of touchpoints with so many rows, columns besides, and rows in a group. */
export function sizedParquet({
  rows,
  columns = 0,
  rowGroupSize = 100_000,
}: {
  readonly rows: number;
  readonly columns?: number;
  readonly rowGroupSize?: number;
}): Buffer {
  const all = Array.from({ length: Math.max(1, Math.floor(rows)) }, (_, row) => row);
  return written(
    [
      { name: 'user_id', data: all.map((row) => `u${row}`), type: 'STRING' },
      { name: 'timestamp', data: all.map((row) => new Date(startMs + row * 1_000)), type: 'TIMESTAMP' },
      { name: 'channel', data: all.map((row) => CHANNELS[row % 4]!), type: 'STRING' },
      ...Array.from({ length: Math.floor(columns) }, (_, place) => ({
        name: `c${place}`,
        data: all,
        type: 'INT32' as const,
      })),
    ],
    { rowGroupSize },
  );
}

/** Columns that are not what they should be: numbers, truths, bytes and documents where text or times are expected. */
export function oddlyTypedParquet(): Readonly<Record<string, Buffer>> {
  const numbers = list((row) => row);
  return {
    'truths as users': written([
      { name: 'user_id', data: list((row) => row % 2 === 0), type: 'BOOLEAN' },
      times,
      channels,
    ]),
    'NaN and infinities as costs': written([
      users,
      times,
      channels,
      { name: 'cost', data: list((row) => [Number.NaN, Infinity, -Infinity, -0, 1e308][row % 5]!), type: 'DOUBLE' },
    ]),
    'numbers as times': written([users, { name: 'timestamp', data: numbers, type: 'INT32' }, channels]),
    'times of the year 200,000': written([
      users,
      { name: 'timestamp', data: list(() => new Date(6_248_000_000_000_000)), type: 'TIMESTAMP' },
      channels,
    ]),
    'bytes that are no text': written([
      { name: 'user_id', data: list((row) => Uint8Array.of(0xff, 0, row)), type: 'BYTE_ARRAY' },
      times,
      channels,
    ]),
    'documents as users': written([
      { name: 'user_id', data: list(() => ({ toString: 1, __proto__: null })), type: 'JSON' },
      times,
      channels,
    ]),
    'the same column twice': written([users, times, channels, { ...channels }]),
    'a thousand columns': written([
      users,
      times,
      channels,
      ...Array.from({ length: 1_000 }, (_, place) => ({ name: `c${place}`, data: numbers, type: 'INT32' as const })),
    ]),
  };
}

const thrift = (struct: object): Buffer => {
  const writer = new ByteWriter();
  serializeTCompactProtocol(writer, struct as never);
  return Buffer.from(writer.getBytes());
};

/** As https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift numbers them. */
const [BYTE_ARRAY, UTF8, PLAIN, RLE, RLE_DICTIONARY, UNCOMPRESSED, DATA_PAGE, DICTIONARY_PAGE] = [
  6, 0, 0, 3, 8, 0, 0, 2,
];

/**
 * Touchpoints that are all the same, in a file of a kilobyte however many they are: each column is a dictionary of
 * one text, and runs that say how often it comes.
 * @param rows in each page, up to 2^31 - 1
 * @param cellBytes length of the user's name
 */
export function unfoldingParquet(rows: number, pages = 1, cellBytes = 2): Buffer {
  const cells = { user_id: 'u'.repeat(cellBytes), timestamp: '2025-06-01T10:00:00Z', channel: 'email' };
  const parts: Buffer[] = [Buffer.from('PAR1')];
  const offset = (): bigint => BigInt(parts.reduce((sum, { length }) => sum + length, 0));
  const total = BigInt(rows) * BigInt(pages);
  const chunks = Object.entries(cells).map(([name, cell]) => {
    const start = offset();
    const text = Buffer.from(cell);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    const entry = Buffer.concat([length, text]);
    parts.push(
      thrift({
        field_1: DICTIONARY_PAGE,
        field_2: entry.length,
        field_3: entry.length,
        field_7: { field_1: 1, field_2: PLAIN },
      }),
      entry,
    );
    const dataOffset = offset();
    // Indexes of one bit; then a run: how often, times two, and which.
    const run = Buffer.concat([Buffer.of(1), varintOf(BigInt(rows) << 1n), Buffer.of(0)]);
    const header = thrift({
      field_1: DATA_PAGE,
      field_2: run.length,
      field_3: run.length,
      field_5: { field_1: rows, field_2: RLE_DICTIONARY, field_3: RLE, field_4: RLE },
    });
    for (let page = 0; page < pages; page += 1) parts.push(header, run);
    const size = offset() - start;
    return {
      field_2: start,
      field_3: {
        field_1: BYTE_ARRAY,
        field_2: [PLAIN, RLE, RLE_DICTIONARY],
        field_3: [name],
        field_4: UNCOMPRESSED,
        field_5: total,
        field_6: size,
        field_7: size,
        field_9: dataOffset,
        field_11: start,
      },
    };
  });
  const columns = Object.keys(cells).map((name) => ({ field_1: BYTE_ARRAY, field_3: 0, field_4: name, field_6: UTF8 }));
  const footer = thrift({
    field_1: 1,
    field_2: [{ field_4: 'root', field_5: columns.length }, ...columns],
    field_3: total,
    field_4: [{ field_1: chunks, field_2: offset(), field_3: total }],
  });
  const tail = Buffer.from('0000PAR1');
  tail.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, tail]);
}
