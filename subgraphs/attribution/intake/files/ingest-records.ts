import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { isPassing } from '../../../../platform/clickhouse/outage.ts';
import type { UploadOptions } from '../../../../schema/contract/upload-options.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { dayAt } from '../../../../schema/day-range.ts';
import { DELIMITERS } from '../../../../schema/value-lists.ts';
import type { Delimiter } from '../data-sources/data-source.ts';
import { RECORD_MEDIA_TYPES } from '../connectors/records-body.ts';
import type { FileQuality } from '../data-sources/upload.ts';
import { versionOf, versionsOf } from '../touchpoints/row-versions.ts';
import type { SourceKey } from '../touchpoints/source-key.ts';
import { ratesOf } from './exchange-rates.ts';
import type { WrittenRates } from './reader/currency-rates.ts';
import { BlockStore } from './block-store.ts';
import type { IngestReport } from './ingest-report.ts';
import {
  addedWarning,
  amountlessWarning,
  fateWarnings,
  lookedAtWarnings,
  MONEY,
  repeatedWarning,
} from './order-warnings.ts';
import { MAX_CONTENT_BYTES } from './reading-limits.ts';
import {
  FRAME,
  type BlockHead,
  type ReadingFinding,
  type ReadingProgress,
  type Refusal,
  wishesOf,
} from './reading-messages.ts';
import { refusalProblem } from './reader-process.ts';
import { lowerRefundedOrders } from './refunded-orders.ts';
import type { FileSize, ReadingInstructions, ReadingRoom, ReceivedFile } from './reading-room.ts';
import { rejectMessage } from './rejects.ts';

/** How a file is to be read. */
export interface ReadingOptions {
  readonly room: ReadingRoom;
  /** One of {@link RECORD_MEDIA_TYPES}. */
  readonly mediaType: string;
  readonly contentEncoding?: 'gzip' | 'identity';
  /** One of `,` `;` `|` and tab, or `auto`. */
  readonly delimiter?: string;
  /** What is said of this file. */
  readonly options?: UploadOptions;
  /** Canonical column → the name in files of this source that have it. */
  readonly usualMapping?: Readonly<Record<string, string>>;
  /** What was said of earlier files of the source, by the digest of their headers; none where absent. */
  readonly remembered?: Readonly<Record<string, UploadOptions>>;
  /** Null or absent: the first currency of the file becomes the source's, USD if it names none. */
  readonly sourceCurrency?: string | null;
  /** What other currencies are worth in that of the source; none where absent. */
  readonly rates?: WrittenRates;
  /** Upper bound of the decoded content, 8 GiB unless given. */
  readonly maxBytes?: number;
  /** Whose limits hold while it is read; large unless given. */
  readonly size?: FileSize;
  /** Now and then while rows are stored; `bytes` counts decoded content. */
  readonly onProgress?: (progress: { readonly bytes: number }) => void;
  /**
   * Time of the upload: decides which of two rows with one natural key is the latest, and bounds the times accepted.
   */
  readonly now: Date;
}

/** What the rows of an upload are, whose they are, and how they are written. */
export interface IngestOptions extends ReadingOptions {
  readonly clickhouse: ClickHouse;
  readonly source: SourceKey;
  /** Names the upload in the rejects; sending the same upload again clears what it left before. */
  readonly uploadId: string;
}

const IN_FLIGHT = 2;
/** An engine that crashed is back within a second or two; a block that is stored twice changes nothing. */
const RETRY_PAUSES_MS = [200, 500, 1_000, 2_000, 4_000];
const MAX_FIRST_ERRORS = 100;
const LF = 0x0a;
const DEFAULT_CURRENCY = 'USD';
const HOUR_MS = 3_600_000;

/**
 * @throws ProblemError `unsupported_media_type`, `validation_error` (`invalid_delimiter`): before anything is received
 */
export function assertReadable({ mediaType, delimiter }: Pick<IngestOptions, 'mediaType' | 'delimiter'>): void {
  if (!(RECORD_MEDIA_TYPES as readonly string[]).includes(mediaType)) {
    throw new ProblemError('unsupported_media_type', `Send rows as ${RECORD_MEDIA_TYPES.join(', ')}.`);
  }
  delimiterOf(delimiter);
}

/**
 * Has a file read in the reading room and stores its rows, in constant memory: this process never looks into the file.
 * Rows are upserted by natural key, so that sending a file again changes nothing.
 * @throws ProblemError `unsupported_media_type`, `validation_error` (header, encoding, format, limits of reading),
 * `payload_too_large`, `service_unavailable`; what was stored until then stays, and the upload can simply be sent again
 */
export async function ingestRecords(file: ReceivedFile, options: IngestOptions): Promise<IngestReport> {
  assertReadable(options);
  const store = new BlockStore(options.clickhouse, options.source, options.uploadId);
  await retried(() => store.clear());
  const blocks = new Blocks((bytes, store) => options.room.stored(file.tenant, bytes, store), store, options.now);
  try {
    const rates = await retried(() => ratesOf(options.clickhouse, options.source));
    const finding = await readAll({ ...options, rates }, file, false, (block) => blocks.add(block));
    await blocks.settled();
    await retried(() => store.reject(finding.rejects, versionOf(options.now, 0, false)));
    const report = reportOf(options, finding);
    if (finding.conversions + finding.refunds === 0) return report;
    const versions = versionsOf(options.now, finding.kind === 'conversions');
    const repeated = await retried(() => store.repeatedOrders(finding.conversions, versions));
    const fates = await retried(() => lowerRefundedOrders(options.clickhouse, options.source, versions));
    const warnings = [
      ...report.warnings,
      ...(fates === null ? [] : fateWarnings(fates, report.currency ?? DEFAULT_CURRENCY)),
      ...(repeated === 0 ? [] : [repeatedWarning(repeated)]),
    ];
    // What rows of one order are was settled: none of them is missing.
    const isLost = repeated > 0 && finding.orderRows === null;
    return { ...report, warnings, quality: { ...report.quality, ...(isLost && { repeatedOrders: repeated }) } };
  } finally {
    await blocks.abandoned();
  }
}

/**
 * Has a file read and says how its rows would be taken; nothing is stored.
 * @throws ProblemError as {@link ingestRecords}, but for what is left open, which the finding tells
 */
export function inspectFile(file: ReceivedFile, options: ReadingOptions): Promise<ReadingFinding> {
  assertReadable(options);
  return readAll(options, file, true, () => Promise.reject(new Error('a dry run hands nothing on')));
}

async function readAll(
  options: ReadingOptions,
  file: ReceivedFile,
  isDryRun: boolean,
  onBlock: (block: Buffer) => Promise<void>,
): Promise<ReadingFinding> {
  for await (const { kind, content } of options.room.read(file, instructionsOf(options, isDryRun), options.size)) {
    switch (kind) {
      case FRAME.progress:
        options.onProgress?.(JSON.parse(content.toString()) as ReadingProgress);
        break;
      case FRAME.block:
        await onBlock(content);
        break;
      case FRAME.finding:
        return JSON.parse(content.toString()) as ReadingFinding;
      case FRAME.refusal:
        throw refusalProblem(JSON.parse(content.toString()) as Refusal);
    }
  }
  throw new Error('the reader of a file ended without a word');
}

function instructionsOf(options: ReadingOptions, isDryRun: boolean): ReadingInstructions {
  const { earliestDay, maxAheadHours } = options.room.rowDates;
  return {
    mediaType: options.mediaType,
    contentEncoding: options.contentEncoding ?? 'identity',
    delimiter: delimiterOf(options.delimiter),
    ...wishesOf(options.options),
    usualMapping: options.usualMapping ?? {},
    remembered: Object.fromEntries(
      Object.entries(options.remembered ?? {}).map(([digest, said]) => [digest, wishesOf(said)]),
    ),
    isDryRun,
    currency: options.sourceCurrency ?? null,
    rates: options.rates ?? {},
    earliestMs: Date.parse(earliestDay),
    latestMs: options.now.getTime() + maxAheadHours * HOUR_MS,
    maxBytes: options.maxBytes ?? MAX_CONTENT_BYTES,
  };
}

type StoreInTurn = (bytes: number, store: () => Promise<void>) => Promise<void>;

/** Stores blocks as they come, a few at a time, so that the engine sorts one while it takes in another. */
class Blocks {
  readonly #inTurn: StoreInTurn;
  readonly #store: BlockStore;
  readonly #now: Date;
  readonly #inFlight = new Set<Promise<void>>();
  #count = 0;

  constructor(inTurn: StoreInTurn, store: BlockStore, now: Date) {
    this.#inTurn = inTurn;
    this.#store = store;
    this.#now = now;
  }

  async add(content: Buffer): Promise<void> {
    const headEnd = content.indexOf(LF);
    const head = JSON.parse(content.toString('utf8', 0, headEnd)) as BlockHead;
    const version = versionOf(this.#now, this.#count, head.isOfOrders);
    this.#count += 1;
    const stored = retried(() =>
      this.#inTurn(content.length, () => this.#store.store(head, content.subarray(headEnd + 1), version)),
    ).finally(() => this.#inFlight.delete(stored));
    // A failure is thrown where it is awaited.
    stored.catch(() => undefined);
    this.#inFlight.add(stored);
    if (this.#inFlight.size >= IN_FLIGHT) await Promise.race(this.#inFlight);
  }

  /** @throws what went wrong with any of them */
  async settled(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  async abandoned(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }
}

/** What rows without data are, by what the others are; sums where nothing is said. */
const LEFT_OUT: Readonly<Partial<Record<ReadingFinding['kind'], string>>> = {
  conversions: 'further lines of an order, orders that nobody paid, and sums',
  events: 'events that are neither touches nor orders',
  touchpoints: 'events that are no touches',
};

/** What the sender should know beside the rejects. */
export function warningsOf(
  {
    kind,
    preset,
    skipped,
    hasZoneless,
    currency,
    converted,
    amountless,
    addedLines,
    pairs,
    headerDigest,
    sample,
  }: ReadingFinding,
  remembered: ReadingOptions['remembered'] = {},
): string[] {
  return [
    ...(Object.hasOwn(remembered, headerDigest)
      ? [
          `The file was read by what was said of the last one with these columns: ` +
            `${shortened(JSON.stringify(remembered[headerDigest]))}. What you say of a file holds in place of it.`,
        ]
      : []),
    ...converted.map(
      ({ currency: other, rows, amount, worth }) =>
        `The amounts of ${rows} ${rows === 1 ? 'row' : 'rows'} in ${other}, ${MONEY.format(amount)} in all, were ` +
        `converted by the rates of the source, to ${MONEY.format(worth)} ${currency ?? DEFAULT_CURRENCY}.`,
    ),
    ...(preset === null ? [] : [`The file was read as the export ${preset}.`]),
    ...(skipped === 0
      ? []
      : [
          `${skipped} ${skipped === 1 ? 'row that is no data was' : 'rows that are no data were'} left out, such as ` +
            `${LEFT_OUT[kind] ?? 'sums'}.`,
        ]),
    ...amountlessWarning(amountless),
    ...addedWarning(addedLines),
    ...(pairs === 0
      ? []
      : [
          `${pairs} ${pairs === 1 ? 'pair of ids stands' : 'pairs of ids stand'} beside each other in rows. ` +
            'The two ids of each are one person.',
        ]),
    // Of a dry run; what is stored is counted in the store.
    ...(sample === undefined ? [] : lookedAtWarnings(sample, currency ?? DEFAULT_CURRENCY)),
    ...(hasZoneless
      ? ['Times that say no zone were taken as UTC. If they are local times, send the file again with their timezone.']
      : []),
  ];
}

const LONGEST_TOLD = 500;
const shortened = (text: string): string => (text.length > LONGEST_TOLD ? `${text.slice(0, LONGEST_TOLD)}…` : text);

function reportOf({ uploadId, remembered }: IngestOptions, finding: ReadingFinding): IngestReport {
  const { kind, accepted, rejected, conversions, earliestMs, latestMs } = finding;
  const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    uploadId,
    kind,
    warnings: warningsOf(finding, remembered),
    rowsAccepted: accepted,
    rowsRejected: rejected,
    touchpoints: finding.touchpoints,
    conversions,
    spendRows: kind === 'spend' ? accepted : 0,
    paths: kind === 'paths' ? accepted : 0,
    currency: finding.currency,
    firstErrors: finding.rejects
      .slice(0, MAX_FIRST_ERRORS)
      .map(({ value, ...reject }) => ({ ...reject, message: rejectMessage(reject.code, value) })),
    bytes: finding.bytes,
    contentDigest: finding.digest,
    headerDigest: finding.headerDigest,
    earliest: timeOf(earliestMs),
    latest: timeOf(latestMs),
    quality: qualityOf(finding),
  };
}

function qualityOf(finding: ReadingFinding): FileQuality {
  const { conversions, earliestMs, latestMs, currency, rejectedRevenue, unpricedRejects, hasZoneless } = finding;
  return {
    ...(earliestMs !== null && latestMs !== null && { firstDay: dayAt(earliestMs), lastDay: dayAt(latestMs) }),
    ...(conversions > 0 && { conversions }),
    // In no currency that is known it cannot be set against the revenue.
    ...(currency !== null && { rejectedRevenue: { [currency]: String(rejectedRevenue) }, unpricedRejects }),
    ...(hasZoneless && { assumedTimeZone: 'UTC' }),
  };
}

/**
 * Does it again while the engine is away for a moment. A statement that had to be ended is not sent again: it would
 * have to be ended again.
 */
export async function retried<T>(work: () => Promise<T>): Promise<T> {
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

function delimiterOf(wanted = 'auto'): Delimiter | 'auto' {
  const known = [...DELIMITERS, 'auto' as const].find((delimiter) => delimiter === wanted);
  if (known === undefined)
    throw new ProblemError('validation_error', 'delimiter: must be a comma, semicolon, tab, vertical bar, or auto', {
      code: 'invalid_delimiter',
      param: '/delimiter',
    });
  return known;
}
