import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { READING_LIMITS } from '../../../../../subgraphs/attribution/intake/files/reading-limits.ts';
import {
  NO_WISHES,
  type ReadingFinding,
  type ReadingOrder,
  type Refusal,
} from '../../../../../subgraphs/attribution/intake/files/reading-messages.ts';
import { readRecords } from '../../../../../subgraphs/attribution/intake/files/reader/read-records.ts';
import { RefusedFileError } from '../../../../../subgraphs/attribution/intake/files/reader/refused-file.ts';
import { rowsOfBlock } from './native-block.ts';

export const CSV = 'text/csv';
export const NDJSON = 'application/x-ndjson';

export interface ReadContent {
  readonly finding?: ReadingFinding;
  readonly refusal?: Refusal;
  readonly rows: readonly Record<string, string | number | null>[];
}

/** Reads a file as an upload would. Whatever is no refusal of the file is thrown. */
export async function readContent(
  content: string | Buffer,
  mediaType: string = CSV,
  wishes: Partial<ReadingOrder> = {},
): Promise<ReadContent> {
  const folder = mkdtempSync(join(tmpdir(), 'liftgraph-content-'));
  try {
    writeFileSync(join(folder, 'file'), content);
    return await readPlaced(join(folder, 'file'), { mediaType, unpackedPath: join(folder, 'unpacked'), ...wishes });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same with a file that lies on the disk. */
export async function readPlaced(
  path: string,
  wishes: Partial<ReadingOrder> & Pick<ReadingOrder, 'mediaType' | 'unpackedPath'>,
): Promise<ReadContent> {
  const rows: Record<string, string | number | null>[] = [];
  const order: ReadingOrder = {
    ...NO_WISHES,
    path,
    contentEncoding: 'identity',
    delimiter: 'auto',
    usualMapping: {},
    remembered: {},
    isDryRun: false,
    currency: null,
    rates: {},
    earliestMs: Date.UTC(2000, 0, 1),
    latestMs: Date.UTC(2026, 10, 27),
    maxBytes: 1e9,
    limits: READING_LIMITS,
    ...wishes,
  };
  try {
    const finding = await readRecords(order, {
      progress: () => undefined,
      room: () => Promise.resolve(),
      block: ({ table }, parts) => {
        for (const row of rowsOfBlock(Buffer.concat(parts))) rows.push({ ...row, table });
      },
    });
    return { finding, rows };
  } catch (error) {
    if (!(error instanceof RefusedFileError)) throw error;
    return { refusal: error.refusal, rows };
  }
}
