import type { UploadOptions } from '../../../../schema/contract/upload-options.ts';
import type { RowReject } from './rejects.ts';
import type { ReadingLimits } from './reading-limits.ts';
import type { ContentEncoding } from './reader/file-content.ts';
import type { ConvertedSum } from './reader/exchange.ts';
import type { ExchangeRates, WrittenRates } from './reader/currency-rates.ts';
import type { Inspection } from './reader/inspection.ts';
import type { OrderRows } from './reader/order-rows.ts';
import type { SampledRows } from './reader/read-sample.ts';
import type { RecordKind } from './reader/record-kind.ts';
import type { Refusal } from './reader/refused-file.ts';
import type { StoredTable } from './stored-tables.ts';

/** What the sender says of a file, beside its bytes. */
export interface ReadingWishes {
  /** Canonical column → the file's own name. */
  readonly mapping: Readonly<Record<string, string>>;
  /** Canonical column → the value of all rows. */
  readonly constants: Readonly<Record<string, string>>;
  /** Which export of which vendor it is; null to tell it from the header. */
  readonly preset: string | null;
  /** BCP 47: how numbers and dates are written where the file does not tell. */
  readonly locale: string | null;
  /** IANA name of the zone of times that say none; null for UTC. */
  readonly timezone: string | null;
  /** Currency of amounts that name none. */
  readonly amountCurrency: string | null;
  /** Answers to what a look at the file left open, by the id of the question. */
  readonly answers: Readonly<Record<string, string>>;
}

/** What was said at a door, in the reader's terms. */
export const wishesOf = (options: UploadOptions = {}): ReadingWishes => ({
  mapping: options.mapping ?? {},
  constants: options.constants ?? {},
  preset: options.preset ?? null,
  locale: options.locale ?? null,
  timezone: options.timezone ?? null,
  amountCurrency: options.currency?.toUpperCase() ?? null,
  answers: options.answers ?? {},
});
export const NO_WISHES = wishesOf();

/**
 * What is said between the process that reads a file and the service: one order, as a line of JSON on the reader's
 * standard input, and frames on its standard output: kind (1 byte), length (4 bytes, big-endian), content. A reader
 * that asks for room on the disk goes on when a further line comes, which says that it has it.
 */
export interface ReadingOrder extends ReadingWishes {
  readonly path: string;
  /** Where it may be unpacked to, when it must be read at any place. */
  readonly unpackedPath: string;
  /** One of the media types of records. */
  readonly mediaType: string;
  readonly contentEncoding: ContentEncoding;
  readonly delimiter: ',' | ';' | '\t' | '|' | 'auto';
  /** The same for files of this source that have these columns. */
  readonly usualMapping: Readonly<Record<string, string>>;
  /**
   * What was said of earlier files, by the digest of their headers: it holds for one with the same header. Empty where
   * something is said of this one.
   */
  readonly remembered: Readonly<Record<string, ReadingWishes>>;
  /** Look at the file and say how it would be read: nothing is handed on. */
  readonly isDryRun: boolean;
  /** Currency of the source, null while it has none. */
  readonly currency: string | null;
  /** What other currencies are worth in that of the source. */
  readonly rates: ExchangeRates;
  /** Times that are taken, milliseconds since 1970, both included. */
  readonly earliestMs: number;
  readonly latestMs: number;
  /** Bound of the decoded content. */
  readonly maxBytes: number;
  readonly limits: ReadingLimits;
}

/** The same as it is sent: rates are read on the other side. */
export type SentOrder = Omit<ReadingOrder, 'rates'> & { readonly rates: WrittenRates };

export const FRAME = { progress: 1, block: 2, finding: 3, refusal: 4, room: 5 } as const;
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];
export const FRAME_HEAD_BYTES = 5;
/** A reader that claims more is not one of ours. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

/** Rows for one table: a line of JSON, then the rows in ClickHouse's Native format. */
export interface BlockHead {
  readonly table: StoredTable;
  readonly rows: number;
  /** Of the rows of this block; USD where the file has named none so far. */
  readonly currency: string;
  /** Orders of a file of orders: what a table of events tells of the same order never replaces them. */
  readonly isOfOrders: boolean;
}

/** Decoded bytes so far. */
export interface ReadingProgress {
  readonly bytes: number;
}

/** So many bytes in all are to lie in the unpacked file; nothing is written beyond what was asked for before. */
export interface RoomWanted {
  readonly bytes: number;
}

/** What a reader found in a file that it read to its end. */
export interface ReadingFinding {
  readonly kind: RecordKind;
  /** The export that it is; null where its columns speak for themselves. */
  readonly preset: string | null;
  readonly accepted: number;
  readonly rejected: number;
  /** Rows that are no data, such as sums; they count as neither. */
  readonly skipped: number;
  /** Of rejected rows whose amount can be read, in major units. */
  readonly rejectedRevenue: number;
  /** Rejected conversions whose amount cannot be read. */
  readonly unpricedRejects: number;
  /** Times say no zone: they were taken as UTC. */
  readonly hasZoneless: boolean;
  /** Touches and conversions of accepted rows, which may hold several. */
  readonly touchpoints: number;
  readonly conversions: number;
  /** Rows for what was paid back of an order. */
  readonly refunds: number;
  /** Refunds that say no amount, and were left out. */
  readonly amountless: number;
  /** What rows of one order are, where it makes a difference. */
  readonly orderRows: OrderRows | null;
  /** Rows that were added to another one of their order. */
  readonly addedLines: number;
  /** Pairs of ids that stand beside each other in rows of anything. */
  readonly pairs: number;
  /** Time span of the accepted rows, milliseconds since 1970; null when none has a time. */
  readonly earliestMs: number | null;
  readonly latestMs: number | null;
  readonly currency: string | null;
  /** What came in other currencies and was taken in that of the source. */
  readonly converted: readonly ConvertedSum[];
  /** The first ones by line. */
  readonly rejects: readonly (Omit<RowReject, 'message'> & { readonly value: string })[];
  readonly bytes: number;
  readonly digest: string;
  /** Names files with the same columns. */
  readonly headerDigest: string;
  /** Of a dry run alone. */
  readonly sample?: SampledRows;
  readonly inspection?: Inspection;
}

export type { Refusal };
