import { rm } from 'node:fs/promises';
import { MAX_TEXT_BYTES } from '../reading-limits.ts';
import type { ReadingOrder } from '../reading-messages.ts';
import { openCsv } from './csv-records.ts';
import { FileContent } from './file-content.ts';
import type { RecognisesHeader } from './header-search.ts';
import { openJsonArray, openJsonLines } from './json-records.ts';
import type { RecordReader } from './record-reader.ts';
import { asUtf8, EncodingEvidence, type TextEncoding } from './text-encoding.ts';

export interface OpenedFile {
  readonly content: FileContent;
  readonly reader: RecordReader;
}

/** A file that may be opened several times: what one reading finds may be needed to read it rightly. */
export class SourceFile {
  readonly #order: ReadingOrder;
  readonly #room: (bytes: number) => Promise<void>;
  readonly #recognises: RecognisesHeader;

  /** @param room waits until so many bytes in all may be unpacked onto the disk */
  constructor(order: ReadingOrder, room: (bytes: number) => Promise<void>, recognises: RecognisesHeader) {
    this.#order = order;
    this.#room = room;
    this.#recognises = recognises;
  }

  /** @throws RefusedFileError when its beginning cannot be read */
  async open(encoding: TextEncoding | 'auto' = 'auto'): Promise<OpenedFile> {
    const content = await this.#content();
    return { content, reader: withShortNames(await this.#reader(content, encoding)) };
  }

  /** Reads all of it to tell its encoding, where bytes were met that are no UTF-8. */
  async encoding(): Promise<TextEncoding> {
    const evidence = new EncodingEvidence();
    for await (const piece of await this.#content()) evidence.add(piece);
    return evidence.encoding(this.#order.answers);
  }

  #content(): Promise<FileContent> {
    const { path, contentEncoding, maxBytes, limits } = this.#order;
    return FileContent.open(path, contentEncoding, maxBytes, limits);
  }

  async #reader(content: FileContent, encoding: TextEncoding | 'auto'): Promise<RecordReader> {
    const { mediaType, delimiter, limits } = this.#order;
    switch (mediaType) {
      // Loaded for those who need them: most files are read in less time than it takes.
      case 'application/vnd.apache.parquet': {
        const { openParquet } = await import('./parquet-records.ts');
        return openParquet(await this.#plainFile(content), limits);
      }
      case XLSX: {
        const { openWorkbook } = await import('./workbook-records.ts');
        return openWorkbook(await this.#plainFile(content), this.#recognises, limits);
      }
      case 'application/x-ndjson':
        return openJsonLines(asUtf8(content, encoding, this.#order.answers));
      case 'application/json':
        return openJsonArray(content);
      default:
        return openCsv(asUtf8(content, encoding, this.#order.answers), delimiter, this.#recognises);
    }
  }

  async #plainFile(content: FileContent): Promise<string> {
    await rm(this.#order.unpackedPath, { force: true });
    return content.asPlainFile(this.#order.unpackedPath, this.#room);
  }
}

/** Names stand in questions, rejects and examples: as long as a row may be, they would be most of an answer. */
function withShortNames(reader: RecordReader): RecordReader {
  if (reader.header.every((name) => name.length <= MAX_TEXT_BYTES)) return reader;
  const { hasPlainNumbers, namesColumns } = reader;
  return {
    header: reader.header.map((name) => name.slice(0, MAX_TEXT_BYTES).toWellFormed()),
    hasPlainNumbers,
    namesColumns,
    read: (used, sink, names) => reader.read(used, sink, names),
  };
}

export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
