import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WIDEST_ROW_DATES, type RowDates } from '../../../../schema/day-range.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { diskFullProblem, isDiskFull } from '../../../../platform/disk-full.ts';
import { FairTurns, type Release } from '../../../../platform/fair-turns.ts';
import { Spool, type SpoolOptions } from '../../../../platform/spool.ts';
import {
  budgetOf,
  isHigherIn,
  LARGE_FILE_BYTES,
  READING_LIMITS,
  SMALL_FILE_LIMITS,
  type ReadingLimits,
} from './reading-limits.ts';
import { PassedLimitError, ReaderProcess, type Frame } from './reader-process.ts';
import { FRAME, type SentOrder } from './reading-messages.ts';

export interface ReadingRoomOptions extends Partial<Pick<SpoolOptions, 'reserveBytes' | 'freeBytesOf'>> {
  /** Where files wait until they have been read; made if missing, and emptied of what killed processes left. */
  readonly folder: string;
  readonly limits?: Partial<ReadingLimits>;
  readonly smallLimits?: Partial<ReadingLimits>;
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
export type ReadingInstructions = Omit<SentOrder, 'path' | 'unpackedPath' | 'limits'>;

/** Which limits hold for a reading, and in which line its file waits. */
export type FileSize = 'small' | 'large';

/**
 * Readers at a time: small files, and large ones beside them. One tenant has one of each at most. With the memory that
 * each may have (`reading-limits.ts`), all readers together take 736 MiB at most, those that stay for a next file among
 * them.
 */
const PLACES: Readonly<Record<FileSize, number>> = { small: 3, large: 2 };
const MAX_READERS = PLACES.small + PLACES.large;
/** Both behind whoever answers requests, and large files behind small ones, of which each turn is short. */
const NICENESS: Readonly<Record<FileSize, number>> = { small: 10, large: 15 };
/**
 * Turns are worth the processor time that they take. So much is expected of an account of which nothing is known,
 * milliseconds.
 */
const EXPECTED_CPU_MS: Readonly<Record<FileSize, number>> = { small: 1_000, large: 5_000 };
/** Whoever has a place costs something in any case: this part of the time. */
const LEAST_COST = 0.1;
/**
 * Blocks of rows on their way into the engine, of all tenants: it may need twenty times of each. Short ones need not
 * wait.
 */
const STORING = { places: 2, perTenant: 2 };
const SHORT_BLOCK_BYTES = 512 * 1024;
/** Records of uploads that are written at a time, of all tenants. */
const RECORD_PLACES = 4;
/** Uploads of one tenant that arrive, wait or are read. */
const MAX_UPLOADS_PER_TENANT = 100;
/** Room on the disk is taken in steps of this. */
const ROOM_STEP_BYTES = 1024 * 1024;
/** A reader that has nothing to do waits so long for its tenant's next file. */
const IDLE_MS = 10_000;
const COMPILED = 'compiled';
const OWN_FOLDER = /^\d+-/;

/**
 * Where uploaded files are read: each arrives on disk, waits for its tenant's turn, and is read by a process of its own
 * that can be ended. A slow sender holds nothing but his own file, a hostile file nothing but its own process.
 */
export class ReadingRoom {
  readonly rowDates: RowDates;
  readonly #parent: string;
  readonly #limits: Readonly<Record<FileSize, ReadingLimits>>;
  readonly #spool: Spool;
  readonly #turns: Readonly<Record<FileSize, FairTurns>> = {
    small: new FairTurns({ places: PLACES.small, perTenant: 1, expectedCost: EXPECTED_CPU_MS.small }),
    large: new FairTurns({ places: PLACES.large, perTenant: 1, expectedCost: EXPECTED_CPU_MS.large }),
  };
  readonly #storing = new FairTurns(STORING);
  readonly #records = new FairTurns({ places: RECORD_PLACES, perTenant: 1 });
  readonly #readers = new Set<ReaderProcess>();
  /** By tenant, the one that has been idle longest first. */
  readonly #idle = new Map<
    string,
    { readonly reader: ReaderProcess; readonly size: FileSize; readonly timer: NodeJS.Timeout }
  >();
  readonly #uploads = new Map<string, number>();
  /** Processor time that reading has taken, milliseconds. */
  readonly #cpuMs = new WeakMap<ReceivedFile, number>();
  #folder: Promise<string> | undefined;
  #received = 0;

  /** Touches nothing until a file comes. */
  constructor({
    folder,
    limits,
    smallLimits = SMALL_FILE_LIMITS,
    rowDates = WIDEST_ROW_DATES,
    reserveBytes = 0,
    ...disk
  }: ReadingRoomOptions) {
    this.rowDates = rowDates;
    this.#parent = folder;
    const large = { ...READING_LIMITS, ...limits };
    this.#limits = { large, small: { ...large, ...smallLimits } };
    this.#spool = new Spool({ reserveBytes, ...disk, refusal: noRoom });
  }

  /**
   * Lets one more upload of a tenant in, until it is over.
   * @throws ProblemError `rate_limit_exceeded` / `concurrency` when it has many already
   */
  enter(tenant: string): Release {
    const uploads = this.#uploads.get(tenant) ?? 0;
    if (uploads >= MAX_UPLOADS_PER_TENANT) {
      throw new ProblemError(
        'rate_limit_exceeded',
        `${uploads} of your uploads are under way already. Send the next when one has finished.`,
        { code: 'concurrency', retryAfterS: 2 },
      );
    }
    this.#uploads.set(tenant, uploads + 1);
    return () => {
      const left = this.#uploads.get(tenant)! - 1;
      if (left === 0) this.#uploads.delete(tenant);
      else this.#uploads.set(tenant, left);
    };
  }

  /**
   * Writes the record of one upload of a tenant at a time: else a hundred would each hold a connection to wait for the
   * same row.
   */
  recorded<T>(tenant: string, write: () => Promise<T>): Promise<T> {
    return inTurnOf(this.#records, tenant, write);
  }

  /**
   * Takes a body in. Its file is deleted when it is disposed of.
   * @throws ProblemError `payload_too_large` beyond `maxBytes`; `service_unavailable` when the disk has no room for it
   */
  async receive(
    tenant: string,
    body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    maxBytes: number,
    onBytes: (bytes: number) => void = () => undefined,
  ): Promise<ReceivedFile> {
    const folder = await this.#folderOf(tenant);
    const path = join(folder, String((this.#received += 1)));
    const unpackedPath = `${path}.unpacked`;
    const hold = this.#spool.hold(tenant, folder);
    const dispose = async () => {
      await Promise.all([path, unpackedPath].map((file) => rm(file, { force: true })));
      hold[Symbol.dispose]();
    };
    let bytes = 0;
    async function* bounded(): AsyncGenerator<Uint8Array> {
      let granted = 0;
      for await (const piece of body) {
        bytes += piece.length;
        if (bytes > maxBytes)
          throw new ProblemError(
            'payload_too_large',
            `The content is larger than ${maxBytes} bytes. Send it in several uploads.`,
          );
        if (bytes > granted) await hold.growTo((granted = bytes + ROOM_STEP_BYTES));
        yield piece;
        onBytes(bytes);
      }
    }
    try {
      await pipeline(
        Readable.from(bounded(), { objectMode: false }),
        createWriteStream(path, { flags: 'wx', mode: 0o600 }),
      );
      hold.complete(bytes);
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

  /**
   * Has work done with a file when it is its tenant's turn. A file that passes a limit of small ones, where that of
   * large ones is higher, waits once more for the turn of a large one, and the work is begun anew.
   */
  async inTurn<T>(file: ReceivedFile, work: (size: FileSize) => Promise<T>): Promise<T> {
    if (file.bytes <= LARGE_FILE_BYTES) {
      try {
        return await this.#inTurnOf('small', file, work);
      } catch (error) {
        if (!(error instanceof PassedLimitError && isHigherIn(this.#limits.large, error.passed))) throw error;
      }
    }
    return this.#inTurnOf('large', file, work);
  }

  async #inTurnOf<T>(size: FileSize, file: ReceivedFile, work: (size: FileSize) => Promise<T>): Promise<T> {
    const release = await this.#turns[size].take(file.tenant);
    const [cpuBeforeMs, sinceMs] = [this.#cpuMs.get(file) ?? 0, performance.now()];
    try {
      return await work(size);
    } finally {
      const cpuMs = (this.#cpuMs.get(file) ?? 0) - cpuBeforeMs;
      release(Math.max(cpuMs, LEAST_COST * (performance.now() - sinceMs)));
    }
  }

  /**
   * Stores a block of a tenant's rows when it is its turn: two long ones are on their way at a time, of all uploads.
   */
  stored<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T> {
    return bytes <= SHORT_BLOCK_BYTES ? store() : inTurnOf(this.#storing, tenant, store);
  }

  /**
   * Has a file read in a process that reads for its tenant alone.
   * @throws ProblemError `validation_error` with code `file_limit_exceeded` when it takes more than it may;
   * `service_unavailable` when the disk has no room to unpack it
   */
  async *read(
    file: ReceivedFile,
    instructions: ReadingInstructions,
    size: FileSize = 'large',
  ): AsyncGenerator<Frame, void, undefined> {
    const limits = this.#limits[size];
    const { free, perByte } = limits.unfoldedBytes;
    const cpuMs = budgetOf(limits.cpuMs, Math.min(instructions.maxBytes, free + perByte * file.bytes));
    using unpacked = this.#spool.hold(file.tenant, await this.#folderOf(file.tenant));
    const reader = await this.#readerFor(file, size, cpuMs);
    this.#readers.add(reader);
    const cpuBeforeMs = await reader.cpuMs();
    let isTaken = false;
    try {
      const order = { ...instructions, path: file.path, unpackedPath: file.unpackedPath, limits };
      for await (const frame of reader.read(order, file.bytes, (bytes) => unpacked.growTo(bytes))) {
        isTaken = frame.kind === FRAME.finding;
        yield frame;
      }
    } finally {
      this.#cpuMs.set(file, (this.#cpuMs.get(file) ?? 0) + (await reader.cpuMs()) - cpuBeforeMs);
      this.#readers.delete(reader);
      // Whose file was refused does not hold the room of somebody whose next one will be taken.
      if (isTaken) this.#keep(file, size, reader);
      else reader.end();
      await rm(file.unpackedPath, { force: true });
    }
  }

  /** Ends every reader and deletes what has not been read. */
  async close(): Promise<void> {
    for (const reader of this.#readers) reader.end();
    for (const tenant of this.#idle.keys()) this.#takeIdle(tenant)?.end();
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true });
  }

  async #readerFor({ tenant, path }: ReceivedFile, size: FileSize, cpuMs: number): Promise<ReaderProcess> {
    const folder = await this.#folderOf(tenant);
    const isReusable = path.startsWith(folder) && this.#idle.get(tenant)?.size === size;
    const idle = this.#takeIdle(tenant);
    if (isReusable && idle?.mayRead(cpuMs) === true) return idle;
    idle?.end();
    this.#endLongestIdle(MAX_READERS - 1);
    return new ReaderProcess({
      folder,
      alsoReads: path.startsWith(folder) ? undefined : path,
      limits: this.#limits[size],
      cacheFolder: join(this.#parent, COMPILED),
      cpuMs,
      niceness: NICENESS[size],
    });
  }

  /** Starting a process takes longer than reading a small file: it stays a moment for the next of the same tenant. */
  #keep({ tenant }: ReceivedFile, size: FileSize, reader: ReaderProcess): void {
    if (!reader.mayRead(0) || this.#idle.has(tenant)) return reader.end();
    const timer = setTimeout(() => this.#takeIdle(tenant)?.end(), IDLE_MS).unref();
    this.#idle.set(tenant, { reader, size, timer });
    this.#endLongestIdle(MAX_READERS);
    return undefined;
  }

  /** Until there are so many readers at most, or none is idle. */
  #endLongestIdle(most: number): void {
    for (const tenant of this.#idle.keys()) {
      if (this.#readers.size + this.#idle.size <= most) return;
      this.#takeIdle(tenant)?.end();
    }
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

const noRoom = (): ProblemError =>
  new ProblemError(
    'service_unavailable',
    'The disk of the service has no room for a file of this size now. Send it in parts, or try again later.',
    { code: 'disk_full', retryAfterS: 60 },
  );

async function inTurnOf<T>(turns: FairTurns, tenant: string, work: () => Promise<T>): Promise<T> {
  const release = await turns.take(tenant);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Folders are named after the process that made them: those of processes that have gone are nobody's. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (OWN_FOLDER.test(name) && !isAlive(Number.parseInt(name, 10)))
      await rm(join(folder, name), { recursive: true, force: true });
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
