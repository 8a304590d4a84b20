const KIB = 1024;
const MIB = 1024 * KIB;

/** What reading one file may take. Past any of these the reading ends for good: the same file would meet it again. */
export interface ReadingLimits {
  /** Resident memory of the process that reads, bytes. */
  readonly memoryBytes: number;
  /** Processor time, and time that others wait for the reader: a fixed part, and a part per mebibyte of the file. */
  readonly cpuMs: { readonly base: number; readonly perMebibyte: number };
  readonly waitMs: { readonly base: number; readonly perMebibyte: number };
  /** A compressed file may unfold to so many bytes, and to so many more per byte that came. */
  readonly unfoldedBytes: { readonly free: number; readonly perByte: number };
  /** Encodings of Parquet repeat a value for nothing: so many rows may stand in any file, and so many more per byte. */
  readonly parquetRows: { readonly free: number; readonly perByte: number };
  /** A page of a Parquet file, packed or not. */
  readonly parquetPageBytes: number;
}

export const READING_LIMITS: ReadingLimits = {
  memoryBytes: 512 * MIB,
  cpuMs: { base: 3_000, perMebibyte: 250 },
  waitMs: { base: 60_000, perMebibyte: 1_000 },
  unfoldedBytes: { free: 8 * MIB, perByte: 100 },
  parquetRows: { free: 100_000, perByte: 16 },
  parquetPageBytes: 64 * MIB,
};

/** Decoded content of one upload (interface decisions §0.8: 8 GiB). */
export const MAX_CONTENT_BYTES = 8 * 1024 * MIB;
/** A row and all its cells. A quoted cell that never closes would otherwise swallow the rest of the file. */
export const MAX_ROW_BYTES = MIB;
/** A name: a channel, a campaign, a user's or an order's id. */
export const MAX_TEXT_BYTES = 512;
/** Of one path: what models of paths take grows faster than its length. */
export const MAX_PATH_STEPS = 10_000;
export const MAX_COLUMNS = 1_000;
/** The first rejects are kept with their lines, the rest are counted. */
export const MAX_KEPT_REJECTS = 1_000;
/** A larger file than this waits for one of few places, so that small ones are not held up by it. */
export const LARGE_FILE_BYTES = 32 * MIB;
/** What a file may take is given per mebibyte of it. */
export const budgetOf = (limit: { readonly base: number; readonly perMebibyte: number }, bytes: number): number =>
  limit.base + (limit.perMebibyte * bytes) / MIB;
