const KIB = 1024;
const MIB = 1024 * KIB;

/** What reading one file may take. Past any of these the reading ends for good: the same file would meet it again. */
export interface ReadingLimits {
  /** Memory that the process which reads has for itself, beside the program that all of them share, bytes. */
  readonly memoryBytes: number;
  /** Processor time, and time that others wait for the reader. */
  readonly cpuMs: TimeBudget;
  readonly waitMs: TimeBudget;
  /** Time that others wait for a reader that takes no processor time at all: it waits for what never comes. */
  readonly idleMs: number;
  /** A compressed file may unfold to so many bytes, and to so many more per byte that came. */
  readonly unfoldedBytes: { readonly free: number; readonly perByte: number };
  /** Encodings of Parquet repeat a value for nothing: so many rows may stand in any file, and so many more per byte. */
  readonly parquetRows: { readonly free: number; readonly perByte: number };
  /** A page of a Parquet file, packed or not. */
  readonly parquetPageBytes: number;
}

/** A fixed part, and a part per mebibyte of the file. */
export interface TimeBudget {
  readonly base: number;
  /** More for the first mebibyte, in proportion: a file of a few kilobytes has next to nothing of it. */
  readonly firstMebibyte?: number;
  readonly perMebibyte: number;
  /** However large the file is. */
  readonly atMost?: number;
}

/** Limits of large files, and of all that is read for nobody else beside. */
export const READING_LIMITS: ReadingLimits = {
  memoryBytes: 224 * MIB,
  // A second is five times what the start of a process and 500 rows take together.
  cpuMs: { base: 1_000, firstMebibyte: 2_000, perMebibyte: 250 },
  waitMs: { base: 60_000, perMebibyte: 1_000 },
  idleMs: 8_000,
  unfoldedBytes: { free: 8 * MIB, perByte: 100 },
  parquetRows: { free: 100_000, perByte: 16 },
  parquetPageBytes: 64 * MIB,
};

/**
 * A file that arrives small is read within these, beside others. One that unfolds beyond them is begun anew as a large
 * one: the memory of all readers together is what these and the places in the room make of it. The processor time is
 * more than twice what plain CSV takes, so that no turn lasts for long.
 */
export const SMALL_FILE_LIMITS: Partial<ReadingLimits> = {
  memoryBytes: 96 * MIB,
  cpuMs: { base: 1_000, perMebibyte: 50, atMost: 3_000 },
  waitMs: { ...READING_LIMITS.waitMs, atMost: 60_000 },
  parquetPageBytes: 8 * MIB,
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
export const budgetOf = (
  { base, firstMebibyte = 0, perMebibyte, atMost = Infinity }: TimeBudget,
  bytes: number,
): number => Math.min(atMost, base + firstMebibyte * Math.min(1, bytes / MIB) + (perMebibyte * bytes) / MIB);

/** A limit that a reading of so many bytes passed. */
export interface PassedLimit {
  readonly name: keyof ReadingLimits;
  readonly limits: ReadingLimits;
  readonly bytes: number;
}

/** Less than half as much again is not worth a second beginning. */
const WORTH_A_SECOND_BEGINNING = 1.5;

/** Whether a reading that passed a limit may take markedly more within larger ones. */
export function isHigherIn(larger: ReadingLimits, { name, limits, bytes }: PassedLimit): boolean {
  const [allowed, more] = [limits, larger].map((each) => {
    const limit = each[name];
    if (typeof limit === 'number') return limit;
    return 'base' in limit ? budgetOf(limit, bytes) : limit.free + limit.perByte * bytes;
  }) as [number, number];
  return more >= allowed * WORTH_A_SECOND_BEGINNING;
}
