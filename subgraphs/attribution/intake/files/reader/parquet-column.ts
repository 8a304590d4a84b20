import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type {
  ColumnMetaData,
  Compressors,
  DecodedArray,
  PageHeader,
  ParquetParsers,
  RowGroup,
  SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { convert } from 'hyparquet/src/convert.js';
import { MAX_ROW_BYTES, type ReadingLimits } from '../reading-limits.ts';
import type { PageAllowance } from './page-allowance.ts';
import { limitExceeded, unreadableParquet } from './refused-file.ts';

/** A file that is read at any place, as the format asks for. */
export interface RandomAccessFile {
  readonly bytes: number;
  /** @throws RefusedFileError where the file ends earlier */
  read(start: number, length: number): Uint8Array<ArrayBuffer>;
}

/** Headers of pages hold statistics: a few hundred bytes, seldom more. */
const HEADER_BYTES = 4 * 1024;
const MAX_HEADER_BYTES = 4 * 1024 * 1024;

/** Unpacks by the platform what it can, with the size a page says it has as the bound. */
const PAGE_COMPRESSORS: Compressors = {
  ...compressors,
  GZIP: (page, bytes) => gunzipSync(page, { maxOutputLength: Math.max(1, bytes) }),
  BROTLI: (page, bytes) => brotliDecompressSync(page, { maxOutputLength: Math.max(1, bytes) }),
  ZSTD: (page, bytes) => zstdDecompressSync(page, { maxOutputLength: Math.max(1, bytes) }),
};

/**
 * Thirteen digits are read as what they are, and made in a fifth of the time of a date; other times are shown as one
 * says them.
 */
function timeText(ms: number): string {
  if (ms >= 1e12 && ms < 2e12) return String(ms);
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

/** Values as the text of a cell: bytes stay bytes, times become what a time may be written as. */
const PARSERS = {
  timestampFromMilliseconds: (ms: bigint) => timeText(Number(ms)),
  timestampFromMicroseconds: (us: bigint) => timeText(Number(us / 1000n)),
  timestampFromNanoseconds: (ns: bigint) => timeText(Number(ns / 1_000_000n)),
  dateFromDays: (days: number) => timeText(days * 86_400_000),
  stringFromBytes: (bytes: Uint8Array) => bytes,
  jsonFromBytes: (bytes: Uint8Array) => bytes,
} as unknown as ParquetParsers;

/** What the columns of a file have in common. */
export interface ColumnSetting {
  readonly file: RandomAccessFile;
  readonly root: SchemaTree;
  readonly limits: ReadingLimits;
  readonly allowance: PageAllowance;
}

type ColumnDecoder = Parameters<typeof readPage>[2];

/** One column of a row group, page by page: only one page of it is in memory. */
export class ParquetColumn {
  readonly #file: RandomAccessFile;
  readonly #decoder: ColumnDecoder;
  readonly #limits: ReadingLimits;
  readonly #allowance: PageAllowance;
  /** Decimals of a decimal type, which come as the nearest number. */
  readonly #scale: number | undefined;
  readonly #end: number;
  #position: number;
  #rowsLeft: number;
  #dictionary: DecodedArray | undefined;
  #page: DecodedArray = [];
  #next = 0;

  /** @throws RefusedFileError `unreadable_parquet` */
  constructor({ file, root, limits, allowance }: ColumnSetting, leaf: SchemaTree, group: RowGroup) {
    const metadata = group.columns.find(
      (chunk) =>
        chunk.meta_data?.path_in_schema.length === 1 && chunk.meta_data.path_in_schema[0] === leaf.element.name,
    )?.meta_data;
    if (metadata === undefined) throw unreadableParquet();
    this.#file = file;
    this.#limits = limits;
    this.#allowance = allowance;
    this.#rowsLeft = Number(group.num_rows);
    this.#position = startOf(metadata);
    this.#end = Math.min(file.bytes, this.#position + Number(metadata.total_compressed_size));
    this.#scale =
      leaf.element.converted_type === 'DECIMAL' ? Math.min(100, Math.max(0, leaf.element.scale ?? 0)) : undefined;
    this.#decoder = {
      pathInSchema: metadata.path_in_schema,
      type: metadata.type,
      element: leaf.element,
      schemaPath: [root, leaf],
      codec: metadata.codec,
      parsers: PARSERS,
      compressors: PAGE_COMPRESSORS,
    };
  }

  /**
   * Writes the value of the next row as text.
   * @returns where the text ends; -1 when it is longer than a row may be
   * @throws RefusedFileError `unreadable_parquet`, `file_limit_exceeded`
   */
  writeNext(target: Buffer, at: number): number {
    while (this.#next === this.#page.length) this.#readPage();
    const value: unknown = this.#page[this.#next++];
    if (value === null || value === undefined) return at;
    if (value instanceof Uint8Array) {
      if (at + value.length > MAX_ROW_BYTES) return -1;
      target.set(value, at);
      return at + value.length;
    }
    const text = this.#textOf(value);
    return at + text.length > MAX_ROW_BYTES ? -1 : at + target.write(text, at);
  }

  #textOf(value: unknown): string {
    switch (typeof value) {
      case 'string':
        return value;
      case 'number':
        return this.#scale === undefined ? String(value) : value.toFixed(this.#scale);
      case 'bigint':
        return value.toString();
      case 'boolean':
        return String(value);
      default:
        throw unreadableParquet();
    }
  }

  #readPage(): void {
    if (this.#position >= this.#end || this.#rowsLeft <= 0) throw unreadableParquet();
    const start = this.#position;
    const header = this.#readHeader();
    const { compressed_page_size: packed, uncompressed_page_size: unpacked } = header;
    const { parquetPageBytes } = this.#limits;
    if (Math.max(packed, unpacked) > parquetPageBytes)
      throw limitExceeded('a page of the file is too large', `${parquetPageBytes} bytes`, {
        name: 'parquetPageBytes',
        limits: this.#limits,
        bytes: this.#file.bytes,
      });
    if (!(packed >= 0 && unpacked >= 0 && packed <= this.#end - this.#position)) throw unreadableParquet();
    const values = valuesOf(header);
    if (!(values.count >= 0) || (header.type !== 'DICTIONARY_PAGE' && values.count > this.#rowsLeft))
      throw unreadableParquet();
    if (values.isIndexed && this.#dictionary === undefined) throw unreadableParquet();
    this.#allowance.page(this.#position - start + packed, unpacked);
    if (header.type === 'DICTIONARY_PAGE') this.#allowance.dictionary(values.count);
    const content = this.#file.read(this.#position, packed);
    this.#position += packed;
    const reader = { view: new DataView(content.buffer), offset: 0 };
    if (header.type === 'DICTIONARY_PAGE') {
      this.#dictionary = convert(
        readPage(reader, header, this.#decoder, undefined, undefined, 0).data ?? [],
        this.#decoder,
      );
      return;
    }
    if (header.type !== 'DATA_PAGE' && header.type !== 'DATA_PAGE_V2') return;
    const { data } = readPage(reader, header, this.#decoder, this.#dictionary, undefined, 0);
    if (data?.length !== values.count) throw unreadableParquet();
    this.#page = data;
    this.#next = 0;
    this.#rowsLeft -= values.count;
  }

  /** A header says nothing of its own length: more of the file is read until it can be read whole. */
  #readHeader(): PageHeader {
    for (let bytes = HEADER_BYTES; ; bytes *= 8) {
      const length = Math.min(bytes, this.#end - this.#position);
      const reader = { view: new DataView(this.#file.read(this.#position, length).buffer), offset: 0 };
      try {
        const header = parquetHeader(reader);
        this.#position += reader.offset;
        return header;
      } catch (error) {
        if (length < bytes || bytes >= MAX_HEADER_BYTES) throw error;
      }
    }
  }
}

/** The dictionary, where there is one, comes ahead of the pages that use it. */
function startOf({ dictionary_page_offset: dictionary, data_page_offset: data }: ColumnMetaData): number {
  return dictionary !== undefined && dictionary > 0n && dictionary < data ? Number(dictionary) : Number(data);
}

/** How many values a page says it has, and whether they are places in the dictionary. */
function valuesOf({
  type,
  data_page_header: v1,
  data_page_header_v2: v2,
  dictionary_page_header: dictionary,
}: PageHeader): { count: number; isIndexed: boolean } {
  if (type === 'DICTIONARY_PAGE') return { count: dictionary?.num_values ?? -1, isIndexed: false };
  const page = type === 'DATA_PAGE' ? v1 : type === 'DATA_PAGE_V2' ? v2 : { num_values: 0, encoding: 'PLAIN' };
  return { count: page?.num_values ?? -1, isIndexed: page?.encoding.endsWith('_DICTIONARY') ?? false };
}
