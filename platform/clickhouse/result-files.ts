import { createReadStream, type ReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Spool, type SpoolHold } from '../spool.ts';
import { EngineError } from './http-request.ts';

export interface ResultFilesOptions {
  readonly folder: string;
  /** Left free on the disk, whoever asks. */
  readonly reserveBytes: number;
}

/** Room is asked for ahead of what is written: several times what the engine writes between two looks. */
const ROOM_STEP_BYTES = 16 * 1024 * 1024;
const LOOK_MS = 20;
/** What files on their way out may take of the room: the other half is for what is to be stored. */
const SHARE = 0.5;

/**
 * Results that wait on disk for who reads them. Each is counted while it is written: the engine knows no bound for a
 * file, and a reader who takes nothing would keep his for as long as he likes.
 */
export class ResultFiles {
  readonly #folder: string;
  readonly #spool: Spool;

  constructor({ folder, reserveBytes }: ResultFilesOptions) {
    this.#folder = folder;
    this.#spool = new Spool({ reserveBytes, share: SHARE, refusal: noRoom });
  }

  /** Takes no room yet. Disposing of it deletes the file. */
  file(tenant: string, name: string, maxBytes: number): ResultFile {
    return new ResultFile(join(this.#folder, name), this.#spool.hold(tenant, this.#folder), maxBytes);
  }
}

class ResultFile implements AsyncDisposable {
  readonly path: string;
  readonly #hold: SpoolHold;
  readonly #maxBytes: number;
  readonly #excess = new AbortController();

  constructor(path: string, hold: SpoolHold, maxBytes: number) {
    this.path = path;
    this.#hold = hold;
    this.#maxBytes = maxBytes;
  }

  /** Aborts when the file must not grow any more: whoever writes it has to be ended. */
  get excess(): AbortSignal {
    return this.#excess.signal;
  }

  /**
   * Has the file written, and looks at it meanwhile.
   * @throws EngineError 396 when the file becomes larger than it may be, 243 when there is no room for it
   */
  async watched(write: () => Promise<void>): Promise<void> {
    await this.#grow();
    const written = new AbortController();
    const watching = this.#watch(written.signal).catch((error: unknown) => this.#excess.abort(error));
    try {
      await write();
    } catch (error) {
      throw this.excess.aborted ? this.excess.reason : error;
    } finally {
      written.abort();
      await watching;
    }
    this.excess.throwIfAborted();
    this.#hold.complete(await this.#look());
  }

  read(): ReadStream {
    return createReadStream(this.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { force: true });
    this.#hold[Symbol.dispose]();
  }

  async #watch(written: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(LOOK_MS, undefined, { signal: written }).catch(() => undefined);
      if (written.aborted) return;
      await this.#grow();
    }
  }

  async #grow(): Promise<void> {
    await this.#hold.growTo((await this.#look()) + ROOM_STEP_BYTES);
  }

  /** @returns how large it is by now @throws EngineError 396 */
  async #look(): Promise<number> {
    const size = await stat(this.path).then(
      (file) => file.size,
      (error: NodeJS.ErrnoException) => {
        // The engine makes it with the first row.
        if (error.code === 'ENOENT') return 0;
        throw error;
      },
    );
    if (size > this.#maxBytes)
      throw new EngineError(396, 'TOO_MANY_ROWS_OR_BYTES', `Limit for result exceeded, max bytes: ${this.#maxBytes}`);
    return size;
  }
}

const noRoom = (): EngineError =>
  new EngineError(243, 'NOT_ENOUGH_SPACE', 'The disk has no room for a result of this size now');
