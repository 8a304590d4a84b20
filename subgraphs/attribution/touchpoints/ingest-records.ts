import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../../platform/clickhouse/client.ts';
import { isPassing } from '../../../platform/clickhouse/outage.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { DELIMITERS } from '../../../schema/value-lists.ts';
import type { Delimiter } from '../data-sources/data-source.ts';
import type { IngestReport } from './ingest-report.ts';
import { intakeStatement, type RecordEncoding } from './intake-statement.ts';
import { parquetUpload } from './parquet-upload.ts';
import type { IntakeOptions } from './record-columns.ts';
import { recordChunks, type RecordChunk } from './record-chunks.ts';
import { detectLayout, type RecordLayout } from './record-kind.ts';
import { jsonRowsAsLines } from './json-rows.ts';
import type { SourceKey } from './source-key.ts';
import { uploadBody, type ContentEncoding, type UploadBody } from './upload-body.ts';
import { readCsvHead, readJsonHead, type UploadHead } from './upload-head.ts';
import { UploadStore } from './upload-store.ts';

/** What an upload may be. `application/json` is an array of at most 1000 rows. */
export const RECORD_MEDIA_TYPES = ['text/csv', 'application/x-ndjson', 'application/vnd.apache.parquet', 'application/json'] as const;

export interface IngestOptions {
  readonly clickhouse: ClickHouse;
  readonly source: SourceKey;
  /** Names the upload in the rejects; sending the same upload again clears what it left before. */
  readonly uploadId: string;
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** One of {@link RECORD_MEDIA_TYPES}. */
  readonly mediaType: string;
  readonly contentEncoding?: ContentEncoding;
  /** One of `,` `;` `|` and tab, or `auto`. */
  readonly delimiter?: string;
  /** Canonical column → the file's own name. */
  readonly mapping?: Readonly<Record<string, string>>;
  /** Null or absent: the first currency of the file becomes the source's, USD if it names none. */
  readonly sourceCurrency?: string | null;
  /** Upper bound of the decoded content, 8 GiB unless given. */
  readonly maxBytes?: number;
  /** After every stored chunk; `bytes` counts decoded content. */
  readonly onProgress?: (progress: { readonly bytes: number }) => void;
  /** Time of the upload: decides which of two rows with one natural key is the latest, and bounds the times accepted. */
  readonly now: Date;
}

const DEFAULT_MAX_BYTES = 8 * 1024 ** 3;
/** Large enough that a chunk becomes one part of decent size, small enough that a few fit into memory on both sides. */
const CHUNK_BYTES = 16 * 1024 * 1024;
const HEAD_BYTES = 256 * 1024;
const IN_FLIGHT = 2;
const DEFAULT_CURRENCY = 'USD';
const CHUNK_TIMEOUT_MS = 600_000;
/** An engine that crashed is back within a second or two; a chunk that is sent twice changes nothing. */
const RETRY_PAUSES_MS = [200, 500, 1_000, 2_000, 4_000];
const CURRENCY_CODE = /^[A-Za-z]{3}$/;

/**
 * Streams records of any size into the columnar store in constant memory: this process only cuts the stream into chunks of
 * whole rows, the engine parses and checks them. Rows are upserted by natural key, so that sending a file again changes nothing.
 * @throws ProblemError `unsupported_media_type`, `validation_error` (header, encoding, format), `payload_too_large`, `service_unavailable`; what was
 * stored until then stays, and the upload can simply be sent again
 */
export async function ingestRecords(options: IngestOptions): Promise<IngestReport> {
  if (!(RECORD_MEDIA_TYPES as readonly string[]).includes(options.mediaType)) {
    throw new ProblemError('unsupported_media_type', `Send rows as ${RECORD_MEDIA_TYPES.join(', ')}.`);
  }
  const store = new UploadStore(options.clickhouse, options.source, options.uploadId);
  const body = uploadBody(options.body, options.contentEncoding ?? 'identity', options.maxBytes ?? DEFAULT_MAX_BYTES);
  if (options.mediaType === 'application/vnd.apache.parquet') return ingestParquet(options, store, body);

  const content = options.mediaType === 'application/json' ? jsonRowsAsLines(body.content) : body.content;
  const { start, whole } = await readStart(content);
  const isCsv = options.mediaType === 'text/csv';
  const head = isCsv ? readCsvHead(start, delimiterOf(options.delimiter)) : readJsonHead(start);
  const layout = detectLayout(head.header, options.mapping);
  const currency = currencyOf(options, layout, head);
  const chunks = recordChunks(skipping(whole, head.headerBytes), { delimiter: head.delimiter, firstLine: head.firstLine, chunkBytes: CHUNK_BYTES });

  await store.clear();
  const intake = new Intake(options, store, layout, currency ?? DEFAULT_CURRENCY, head.delimiter);
  await intake.storeAll(chunks, () => options.onProgress?.({ bytes: body.bytes() }));
  return store.report(layout.kind, { currency, bytes: body.bytes(), contentDigest: body.digest() });
}

async function ingestParquet(options: IngestOptions, store: UploadStore, body: UploadBody): Promise<IngestReport> {
  await using upload = await parquetUpload(body.content);
  const layout = detectLayout(upload.columns, options.mapping);
  await store.clear();
  const known = currencyOf(options, layout, { sample: [] });
  const currency = known ?? (layout.columns.has('currency') ? await store.firstCurrency(layout, upload.read(), versionOf(options.now, 0)) : null);
  const intake = new Intake(options, store, layout, currency ?? DEFAULT_CURRENCY, undefined);
  await intake.store({ format: 'parquet' }, 0, 1, { knownUtf8: false }, () => upload.read());
  options.onProgress?.({ bytes: body.bytes() });
  return store.report(layout.kind, { currency, bytes: body.bytes(), contentDigest: body.digest() });
}

/** Sends the chunks of one upload to the intake of their kind. */
class Intake {
  readonly #options: IngestOptions;
  readonly #store: UploadStore;
  readonly #layout: RecordLayout;
  readonly #currency: string;
  readonly #delimiter: string | undefined;

  constructor(options: IngestOptions, store: UploadStore, layout: RecordLayout, currency: string, delimiter: string | undefined) {
    this.#options = options;
    this.#store = store;
    this.#layout = layout;
    this.#currency = currency;
    this.#delimiter = delimiter;
  }

  /** A few chunks at a time, so that the engine parses one while it sorts another. */
  async storeAll(chunks: AsyncIterable<RecordChunk>, onStored: () => void): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    let number = 0;
    try {
      for await (const chunk of chunks) {
        const stored = this.#storeChunk(chunk, number).then(onStored).finally(() => {
          inFlight.delete(stored);
          chunk.release();
        });
        // A failure is thrown where it is awaited, below.
        stored.catch(() => undefined);
        inFlight.add(stored);
        number += 1;
        if (inFlight.size >= IN_FLIGHT) await Promise.race(inFlight);
      }
      await Promise.all(inFlight);
    } finally {
      await Promise.allSettled(inFlight);
    }
  }

  async #storeChunk(chunk: RecordChunk, number: number): Promise<void> {
    const encoding: RecordEncoding =
      this.#delimiter === undefined ? { format: 'ndjson' } : { format: 'csv', delimiter: this.#delimiter, numbered: chunk.numbered };
    if (chunk.data.length > 0) await this.store(encoding, number, chunk.firstLine, { knownUtf8: isUtf8(chunk.data) }, () => chunk.data);
    if (chunk.unreadable.length > 0) await retried(() => this.#store.reject(chunk.unreadable, number, versionOf(this.#options.now, number)));
  }

  /** Stores one piece of data; sent again as long as the store is away for a moment. */
  async store(encoding: RecordEncoding, number: number, firstLine: number, known: IntakeOptions, data: () => Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    const { statement, params, settings } = intakeStatement(this.#layout, encoding, known);
    const bound = {
      ...params,
      account_id: this.#options.source.accountId,
      data_source_id: this.#options.source.dataSourceId,
      upload_id: this.#options.uploadId,
      version: versionOf(this.#options.now, number),
      chunk: number,
      first_line: firstLine,
      currency: this.#currency,
      latest_time: new Date(this.#options.now.getTime() + 366 * 86_400_000).toISOString().replace('T', ' ').replace('Z', ''),
    };
    await retried(() => this.#options.clickhouse.insert(statement, data(), { params: bound, settings, timeoutMs: CHUNK_TIMEOUT_MS }));
  }
}

/** Later uploads win over earlier ones, later chunks of an upload over its earlier ones. */
function versionOf(now: Date, chunk: number): string {
  return String((BigInt(now.getTime()) << 20n) | BigInt(chunk));
}

async function retried(work: () => Promise<void>): Promise<void> {
  for (const pauseMs of RETRY_PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(pauseMs);
    }
  }
  return work();
}

/** The first bytes of the content, and the content with them still in front. */
async function readStart(content: AsyncIterable<Uint8Array>): Promise<{ start: Buffer; whole: AsyncIterable<Uint8Array> }> {
  const iterator = content[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  for (let bytes = 0; bytes < HEAD_BYTES; ) {
    const step = await iterator.next();
    if (step.done === true) break;
    pieces.push(step.value);
    bytes += step.value.length;
  }
  const start = Buffer.concat(pieces);
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield start;
      for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { start, whole: whole() };
}

async function* skipping(content: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const piece of content) {
    const skipped = Math.min(left, piece.length);
    left -= skipped;
    if (skipped < piece.length) yield piece.subarray(skipped);
  }
}

function delimiterOf(wanted = 'auto'): Delimiter | 'auto' {
  const known = [...DELIMITERS, 'auto' as const].find((delimiter) => delimiter === wanted);
  if (known === undefined) throw new ProblemError('validation_error', 'delimiter: must be a comma, semicolon, tab, vertical bar, or auto', { code: 'invalid_delimiter', param: '/delimiter' });
  return known;
}

function currencyOf(options: IngestOptions, layout: RecordLayout, head: Pick<UploadHead, 'sample'>): string | null {
  if (options.sourceCurrency !== undefined && options.sourceCurrency !== null) return options.sourceCurrency;
  const index = layout.columns.get('currency');
  if (index === undefined) return null;
  const first = head.sample.map((row) => row[index]?.trim() ?? '').find((value) => CURRENCY_CODE.test(value));
  return first?.toUpperCase() ?? null;
}
