import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WIDEST_ROW_DATES, type RowDates } from '../../../../schema/day-range.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { diskFullProblem, isDiskFull } from '../../../../platform/disk-full.ts';
import { FairTurns, type Release } from '../../../../platform/fair-turns.ts';
import { budgetOf, LARGE_FILE_BYTES, READING_LIMITS, type ReadingLimits } from './reading-limits.ts';
import { ReaderProcess, type Frame } from './reader-process.ts';
import type { ReadingOrder } from './reading-messages.ts';

export interface ReadingRoomOptions {
  /** Where files wait until they have been read; made if missing, and emptied of what killed processes left. */
  readonly folder: string;
  readonly limits?: Partial<ReadingLimits>;
  /** The dates that rows may have; the widest unless given. */
  readonly rowDates?: RowDates;
}

/** A file of one tenant that is there whole. Disposing of it deletes what the room holds of it. */
export interface ReceivedFile extends AsyncDisposable {
  readonly tenant: string;
  readonly path: string;
  /** Where its reader may unpack it to. */
  readonly unpackedPath: string;
  readonly bytes: number;
}

/** How a file is to be read. */
export type ReadingInstructions = Omit<ReadingOrder, 'path' | 'unpackedPath' | 'limits'>;

/** Readers at a time: small files, and large ones beside them. One tenant has one of each at most. */
const SMALL_PLACES = 6;
const LARGE_PLACES = 2;
/** Records of uploads that are written at a time, of all tenants. */
const RECORD_PLACES = 4;
/** Uploads of one tenant that arrive, wait or are read. */
const MAX_UPLOADS_PER_TENANT = 100;
/** An upload may fill so much of what the disk has left when it comes, so that one never fills it for all. */
const SHARE_OF_FREE_DISK = 0.25;
const DISK_LOOK_BYTES = 64 * 1024 * 1024;
/** A reader that has nothing to do waits so long for its tenant's next file. */
const IDLE_MS = 10_000;
const MAX_IDLE = 8;
const COMPILED = 'compiled';
const OWN_FOLDER = /^\d+-/;

/**
 * Where uploaded files are read: each arrives on disk, waits for its tenant's turn, and is read by a process of its own that
 * can be ended. A slow sender holds nothing but his own file, a hostile file nothing but its own process.
 */
export class ReadingRoom {
  readonly rowDates: RowDates;
  readonly #parent: string;
  readonly #limits: ReadingLimits;
  readonly #small = new FairTurns({ places: SMALL_PLACES, perTenant: 1 });
  readonly #large = new FairTurns({ places: LARGE_PLACES, perTenant: 1 });
  readonly #records = new FairTurns({ places: RECORD_PLACES, perTenant: 1 });
  readonly #readers = new Set<ReaderProcess>();
  /** By tenant, the one that has been idle longest first. */
  readonly #idle = new Map<string, { readonly reader: ReaderProcess; readonly timer: NodeJS.Timeout }>();
  readonly #uploads = new Map<string, number>();
  #folder: Promise<string> | undefined;
  #received = 0;

  /** Touches nothing until a file comes. */
  constructor({ folder, limits, rowDates = WIDEST_ROW_DATES }: ReadingRoomOptions) {
    this.rowDates = rowDates;
    this.#parent = folder;
    this.#limits = { ...READING_LIMITS, ...limits };
  }

  /**
   * Lets one more upload of a tenant in, until it is over.
   * @throws ProblemError `rate_limit_exceeded` / `concurrency` when it has many already
   */
  enter(tenant: string): Release {
    const uploads = this.#uploads.get(tenant) ?? 0;
    if (uploads >= MAX_UPLOADS_PER_TENANT) {
      throw new ProblemError('rate_limit_exceeded', `${uploads} of your uploads are under way already. Send the next when one has finished.`, { code: 'concurrency', retryAfterS: 2 });
    }
    this.#uploads.set(tenant, uploads + 1);
    return () => {
      const left = this.#uploads.get(tenant)! - 1;
      if (left === 0) this.#uploads.delete(tenant);
      else this.#uploads.set(tenant, left);
    };
  }

  /** Writes the record of one upload of a tenant at a time: else a hundred would each hold a connection to wait for the same row. */
  async recorded<T>(tenant: string, write: () => Promise<T>): Promise<T> {
    const release = await this.#records.take(tenant);
    try {
      return await write();
    } finally {
      release();
    }
  }

  /**
   * Takes a body in. Its file is deleted when it is disposed of.
   * @throws ProblemError `payload_too_large` beyond `maxBytes`; `service_unavailable` when the disk has no room for it
   */
  async receive(tenant: string, body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, maxBytes: number, onBytes: (bytes: number) => void = () => undefined): Promise<ReceivedFile> {
    const folder = await this.#folderOf(tenant);
    const path = join(folder, String((this.#received += 1)));
    const unpackedPath = `${path}.unpacked`;
    const dispose = async () => {
      await Promise.all([path, unpackedPath].map((file) => rm(file, { force: true })));
    };
    let bytes = 0;
    async function* bounded(): AsyncGenerator<Uint8Array> {
      let allowed = await roomFor(folder);
      let lookedAt = 0;
      for await (const piece of body) {
        bytes += piece.length;
        if (bytes > maxBytes) throw new ProblemError('payload_too_large', `The content is larger than ${maxBytes} bytes. Send it in several uploads.`);
        if (bytes - lookedAt > DISK_LOOK_BYTES) {
          lookedAt = bytes;
          allowed = bytes + (await roomFor(folder));
        }
        if (bytes > allowed) throw noRoom();
        yield piece;
        onBytes(bytes);
      }
    }
    try {
      await pipeline(Readable.from(bounded(), { objectMode: false }), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      return { tenant, path, unpackedPath, bytes, [Symbol.asyncDispose]: dispose };
    } catch (error) {
      await dispose();
      throw isDiskFull(error) ? diskFullProblem(error) : error;
    }
  }

  /** A file that lies on this machine already, and stays there. */
  async inPlace(tenant: string, path: string, bytes: number): Promise<ReceivedFile> {
    const unpackedPath = join(await this.#folderOf(tenant), `${(this.#received += 1)}.unpacked`);
    return { tenant, path, unpackedPath, bytes, [Symbol.asyncDispose]: () => rm(unpackedPath, { force: true }) };
  }

  /** Waits for this tenant's turn to have a file read. @throws the signal's reason when it aborts meanwhile */
  turn(tenant: string, fileBytes: number, signal?: AbortSignal): Promise<Release> {
    return (fileBytes > LARGE_FILE_BYTES ? this.#large : this.#small).take(tenant, signal);
  }

  /**
   * Has a file read in a process that reads for its tenant alone.
   * @throws ProblemError `validation_error` with code `file_limit_exceeded` when it takes more than it may
   */
  async *read(file: ReceivedFile, instructions: ReadingInstructions): AsyncGenerator<Frame, void, undefined> {
    const { free, perByte } = this.#limits.unfoldedBytes;
    const cpuMs = budgetOf(this.#limits.cpuMs, Math.min(instructions.maxBytes, free + perByte * file.bytes));
    const reader = await this.#readerFor(file, cpuMs);
    this.#readers.add(reader);
    try {
      yield* reader.read({ ...instructions, path: file.path, unpackedPath: file.unpackedPath, limits: this.#limits }, file.bytes);
    } finally {
      this.#readers.delete(reader);
      this.#keep(file, reader);
    }
  }

  /** Ends every reader and deletes what has not been read. */
  async close(): Promise<void> {
    for (const reader of this.#readers) reader.end();
    for (const tenant of this.#idle.keys()) this.#takeIdle(tenant)?.end();
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true });
  }

  async #readerFor({ tenant, path }: ReceivedFile, cpuMs: number): Promise<ReaderProcess> {
    const folder = await this.#folderOf(tenant);
    const idle = this.#takeIdle(tenant);
    if (path.startsWith(folder) && idle?.mayRead(cpuMs) === true) return idle;
    idle?.end();
    return new ReaderProcess({ folder, alsoReads: path.startsWith(folder) ? undefined : path, limits: this.#limits, cacheFolder: join(this.#parent, COMPILED), cpuMs });
  }

  /** Starting a process takes longer than reading a small file: it stays a moment for the next of the same tenant. */
  #keep({ tenant }: ReceivedFile, reader: ReaderProcess): void {
    if (!reader.mayRead(0) || this.#idle.has(tenant)) return reader.end();
    const timer = setTimeout(() => this.#takeIdle(tenant)?.end(), IDLE_MS).unref();
    this.#idle.set(tenant, { reader, timer });
    const [longestIdle] = this.#idle.keys();
    if (this.#idle.size > MAX_IDLE) this.#takeIdle(longestIdle!)?.end();
  }

  #takeIdle(tenant: string): ReaderProcess | undefined {
    const idle = this.#idle.get(tenant);
    clearTimeout(idle?.timer);
    this.#idle.delete(tenant);
    return idle?.reader;
  }

  /** Readers see the files of their own tenant only. */
  async #folderOf(tenant: string): Promise<string> {
    const folder = join(await this.#ownFolder(), createHash('sha256').update(tenant).digest('hex').slice(0, 32));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  #ownFolder(): Promise<string> {
    this.#folder ??= madeFolder(this.#parent).catch((error: unknown) => {
      this.#folder = undefined;
      throw isDiskFull(error) ? diskFullProblem(error) : error;
    });
    return this.#folder;
  }
}

async function madeFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeLeftovers(parent);
  return mkdtemp(join(parent, `${process.pid}-`));
}

/** Bytes that one more upload may take. */
async function roomFor(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize * SHARE_OF_FREE_DISK;
}

const noRoom = (): ProblemError =>
  new ProblemError('service_unavailable', 'The disk of the service has no room for a file of this size now. Send it in parts, or try again later.', { code: 'disk_full', retryAfterS: 60 });

/** Folders are named after the process that made them: those of processes that have gone are nobody's. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (OWN_FOLDER.test(name) && !isAlive(Number.parseInt(name, 10))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
