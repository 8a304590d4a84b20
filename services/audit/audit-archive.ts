import {
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  closeSync,
  renameSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ProblemError } from '../../schema/problems.ts';
import { canonicalJson } from '../trust/canonical-json.ts';
import { chainName, type ChainedEntry } from './audit-entry.ts';
import { syncFolder } from './audit-heads.ts';
import { textLines } from './text-lines.ts';

/** A run of entries that a file holds. */
export interface AuditSegment {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly lastHash: string;
  readonly lastOccurredAt: Date;
  readonly fileName: string;
}

/** As many digits for each, so that names of files sort as their numbers do. */
const sortable = (sequence: number): string => String(sequence).padStart(10, '0');

/**
 * Entries that left the database: gzipped NDJSON, one file per segment, each line an entry as it was served, its hash
 * included.
 */
export class AuditArchive {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = resolve(directory);
  }

  /**
   * Writes a segment and returns its name when it is on disk under that name; an unfinished one of before is replaced.
   */
  async write(
    chain: string,
    firstSequence: number,
    lastSequence: number,
    entries: AsyncIterable<ChainedEntry>,
  ): Promise<string> {
    const name = `${chainName(chain)}/${sortable(firstSequence)}-${sortable(lastSequence)}.ndjson.gz`;
    const path = this.#path(name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const unfinished = `${path}.unfinished`;
    await pipeline(Readable.from(entryLines(entries)), createGzip(), createWriteStream(unfinished, { mode: 0o600 }));
    const file = openSync(unfinished, 'r');
    fsyncSync(file);
    closeSync(file);
    renameSync(unfinished, path);
    syncFolder(dirname(path));
    return name;
  }

  /** @throws ProblemError `service_unavailable` when the file is not there */
  read(name: string): AsyncGenerator<ChainedEntry> {
    const path = this.#path(name);
    if (!existsSync(path))
      throw new ProblemError(
        'service_unavailable',
        'These entries of the audit log are in an archive that cannot be read now. Ask the operator to bring it ' +
          'back to AUDIT_ARCHIVE_DIR.',
        { code: 'archive_unavailable', retryAfterS: 60 },
      );
    return archivedEntries(path);
  }

  has(name: string): boolean {
    return existsSync(this.#path(name));
  }

  /** Names come from the database, which must not lead out of the archive. */
  #path(name: string): string {
    const path = join(this.#directory, name);
    if (!path.startsWith(this.#directory + sep)) throw new Error(`${name} is not a file of the archive`);
    return path;
  }
}

/** Entries as they are served, one JSON line each. */
export async function* entryLines(entries: AsyncIterable<ChainedEntry>): AsyncGenerator<string> {
  for await (const { entry, hash } of entries) yield `${canonicalJson({ ...(JSON.parse(entry) as object), hash })}\n`;
}

/**
 * The entries of a file of the archive, gzipped or plain, or of any NDJSON of served entries.
 * What is not an entry, or can't be unpacked, comes as one that no chain can hold.
 */
export async function* archivedEntries(path: string): AsyncGenerator<ChainedEntry> {
  const raw = createReadStream(path);
  const input = path.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  raw.once('error', (error) => input.destroy(error));
  try {
    for await (const line of textLines(input)) yield entryOf(line);
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
    yield UNREADABLE;
  } finally {
    raw.destroy();
  }
}

const UNREADABLE: ChainedEntry = { sequence: Number.NaN, entry: '', hash: '' };

function entryOf(line: string): ChainedEntry {
  try {
    const { hash, ...content } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return { sequence: Number(content['sequence']), entry: canonicalJson(content), hash: String(hash) };
  } catch {
    return UNREADABLE;
  }
}
