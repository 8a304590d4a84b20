import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { isDiskFull } from '../platform/disk-full.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import type { HealthCheck } from '../rest-adapter/representations/health-report.ts';
import { ProblemError } from '../schema/problems.ts';

export interface DiskWatchOptions {
  /** Folders of the stores. Several disks are as full as the fullest of them; without a folder nothing is watched. */
  readonly folders: readonly string[];
  /** Kept free for what goes on when nothing more is stored: counted calls, audit entries, the ends of running jobs. */
  readonly reserveBytes: number;
  readonly logger: Logger;
  /** What may still be written where a folder lies; asks the system when absent. */
  readonly freeBytesOf?: (folder: string) => Promise<number>;
}

/** A disk and what is free on it. */
interface Room {
  readonly folder: string;
  readonly freeBytes: number;
}

/** A start that failed because there is no room; the message says where, how much there is, and what to do. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError';
  readonly code = 'disk_full';
}

const LOOK_MS = 1_000;
/** Full again as soon as it is not, it would tell every caller something else than the one before. */
const HYSTERESIS = 1.25;
const RETRY_AFTER_S = 30;
const MEBIBYTE = 1024 ** 2;
/** What a start takes at most on disks that it has written to before; a new installation writes about as much. */
const START_BYTES = 128 * MEBIBYTE;
const REASON =
  'The disk of the stores is nearly full. Uploads, exports, analyses and other changes are refused until there is ' +
  'room again; other reads go on.';
const REFUSAL =
  'The disk is nearly full, so nothing more is stored for now; reads go on. Try again later: whoever runs the ' +
  'service has to make room first.';
const ADVICE = 'Make room on it, move the data directory to a larger disk (LIFTGRAPH_DATA_DIR)';

/** Knows whether the disk of the stores is nearly full. It looks once a second while it is started. */
export class DiskWatch {
  readonly #options: DiskWatchOptions;
  readonly #stopped = new AbortController();
  #folders: readonly string[];
  #scarcest: Room | undefined;
  #isNearlyFull = false;
  readonly #unknown = new Set<string>();
  #looking: Promise<void> = Promise.resolve();

  constructor(options: DiskWatchOptions) {
    this.#options = options;
    this.#folders = options.folders;
  }

  get isNearlyFull(): boolean {
    return this.#isNearlyFull;
  }

  /** Looks now. */
  async look(): Promise<void> {
    const { reserveBytes } = this.#options;
    this.#scarcest = await this.#findScarcest();
    if (this.#scarcest === undefined) return;
    const isNearlyFull = this.#scarcest.freeBytes < reserveBytes * (this.#isNearlyFull ? HYSTERESIS : 1);
    if (isNearlyFull !== this.#isNearlyFull) this.#turned(isNearlyFull, this.#scarcest);
  }

  /** Looks every second from now on. @param folders beside those known, for stores whose place was decided meanwhile */
  start(folders: readonly string[] = []): void {
    this.#folders = [...new Set([...this.#folders, ...folders])];
    this.#looking = this.#lookOn();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#looking;
  }

  /** @throws ProblemError `service_unavailable`, code `disk_nearly_full` */
  refuseWithoutRoom(): void {
    if (!this.#isNearlyFull) return;
    throw new ProblemError('service_unavailable', REFUSAL, { code: 'disk_nearly_full', retryAfterS: RETRY_AFTER_S });
  }

  /** Without figures: whoever may call sees it. They are in the log and among the metrics. */
  check(): HealthCheck {
    return this.#isNearlyFull ? { status: 'degraded', reason: REASON, refusesWork: true } : { status: 'ok' };
  }

  /** Shows how much room there is, as of the last look. */
  show(registry: Registry): void {
    if (this.#folders.length === 0) return;
    const show = (name: string, help: string, figure: () => number): void => {
      const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: () => gauge.set(figure()) });
    };
    const free = 'What may still be written to the disk of the stores, the fullest of several.';
    show('liftgraph_disk_free_bytes', free, () => this.#scarcest?.freeBytes ?? 0);
    const reserve = 'With less room than this, whatever stores something is refused (DISK_RESERVE_BYTES).';
    show('liftgraph_disk_reserve_bytes', reserve, () => this.#options.reserveBytes);
  }

  /**
   * The reason of a start that failed, in the words of whoever has to mend it.
   * @param ofStores whether the stores did not start, whatever they say of it themselves
   * @returns DiskFullError where there was no room, else the error itself
   */
  async explained(error: unknown, ofStores = false): Promise<unknown> {
    const room = await this.#findScarcest();
    const isFull = isDiskFull(error) || (ofStores && room !== undefined && room.freeBytes < START_BYTES);
    if (room === undefined || !isFull || error instanceof DiskFullError) return error;
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    const state = `the disk of ${room.folder} is full: ${inMebibytes(room.freeBytes)} are free`;
    const need = `the stores need up to ${inMebibytes(START_BYTES)} to start`;
    return new DiskFullError(`${state}, and ${need}. ${ADVICE}, and start again. (${reason})`, { cause: error });
  }

  #turned(isNearlyFull: boolean, { folder, freeBytes }: Room): void {
    const { logger, reserveBytes } = this.#options;
    this.#isNearlyFull = isNearlyFull;
    const figures = { folder, freeBytes, reserveBytes };
    if (!isNearlyFull) return logger.info(figures, 'the disk has room again, and nothing is refused any more');
    const room = `${inMebibytes(freeBytes)} are free and ${inMebibytes(reserveBytes)} are kept in reserve`;
    const effect = 'Whatever stores something is refused with 503; reads go on';
    logger.error(
      figures,
      `the disk of ${folder} is nearly full: ${room}. ${effect}. ${ADVICE}, or keep less in reserve ` +
        `(DISK_RESERVE_BYTES)`,
    );
    return undefined;
  }

  async #lookOn(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.look();
      await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #findScarcest(): Promise<Room | undefined> {
    const { freeBytesOf = freeBytesBy, logger } = this.#options;
    const rooms = await Promise.all(
      this.#folders.map(async (folder) => {
        const freeBytes = await freeBytesOf(folder).catch((error: unknown) => {
          // Writes say themselves then what they lack.
          if (!this.#unknown.has(folder))
            logger.warn({ err: error, folder }, 'it cannot be told how full the disk of this folder is');
          this.#unknown.add(folder);
          return Number.POSITIVE_INFINITY;
        });
        return { folder, freeBytes };
      }),
    );
    return rooms.toSorted((one, other) => one.freeBytes - other.freeBytes)[0];
  }
}

/** What an ordinary account may write there: PostgreSQL does not run as root, who may take the last blocks. */
async function freeBytesBy(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(existing(resolve(folder)));
  return bavail * bsize;
}

/** A folder that is yet to be made will lie where the nearest one above it does. */
function existing(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));
}

function inMebibytes(bytes: number): string {
  return `${Math.floor(bytes / MEBIBYTE).toLocaleString('en')} MiB`;
}
