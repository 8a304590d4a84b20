import type { FileQuality } from '../data-sources/upload.ts';
import type { RowReject } from './rejects.ts';
import type { ReadingLimits } from './reading-limits.ts';
import type { ContentEncoding } from './reader/file-content.ts';
import type { RecordKind } from './reader/record-kind.ts';
import type { Refusal } from './reader/refused-file.ts';
import type { StoredTable } from './stored-tables.ts';

/**
 * What is said between the process that reads a file and the service: one order, as a line of JSON on the reader's
 * standard input, and frames on its standard output: kind (1 byte), length (4 bytes, big-endian), content. A reader
 * that asks for room on the disk goes on when a further line comes, which says that it has it.
 */
export interface ReadingOrder {
  readonly path: string;
  /** Where it may be unpacked to, when it must be read at any place. */
  readonly unpackedPath: string;
  /** One of the media types of records. */
  readonly mediaType: string;
  readonly contentEncoding: ContentEncoding;
  readonly delimiter: ',' | ';' | '\t' | '|' | 'auto';
  /** Canonical column → the file's own name. */
  readonly mapping: Readonly<Record<string, string>>;
  /** Currency of the source, null while it has none. */
  readonly currency: string | null;
  /** Times that are taken, milliseconds since 1970, both included. */
  readonly earliestMs: number;
  readonly latestMs: number;
  /** Bound of the decoded content. */
  readonly maxBytes: number;
  readonly limits: ReadingLimits;
}

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
}

/** Decoded bytes so far. */
export interface ReadingProgress {
  readonly bytes: number;
}

/** So many bytes in all are to lie in the unpacked file; nothing is written beyond what was asked for before. */
export interface RoomWanted {
  readonly bytes: number;
}

/** What a reader found in a file that it read to its end, and how good that is. */
export interface ReadingFinding extends Pick<
  FileQuality,
  'rejectedRevenue' | 'unpricedRejects' | 'assumedTimeZone' | 'ambiguousDates' | 'droppedRefunds'
> {
  readonly kind: RecordKind;
  readonly accepted: number;
  readonly rejected: number;
  /** Accepted rows that are conversions. */
  readonly conversions: number;
  /** Time span of the accepted rows, milliseconds since 1970; null when none has a time. */
  readonly earliestMs: number | null;
  readonly latestMs: number | null;
  readonly currency: string | null;
  /** The first ones by line. */
  readonly rejects: readonly (Omit<RowReject, 'message'> & { readonly value: string })[];
  readonly bytes: number;
  readonly digest: string;
}

export type { Refusal };
