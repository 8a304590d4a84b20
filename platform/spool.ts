import { statfs } from 'node:fs/promises';

export interface SpoolOptions {
  /** Left free on the disk, whoever asks. */
  readonly reserveBytes: number;
  /** What may still be written where a folder lies; asks the system when absent. */
  readonly freeBytesOf?: (folder: string) => Promise<number>;
  /** All files together may take so much of what the disk has beyond its reserve; all of it unless given. */
  readonly share?: number;
  /** What a file hears for which there is no room. */
  readonly refusal: () => Error;
}

/**
 * All files of a tenant may take so much of what the disk has beyond its reserve and beyond what others hold: however
 * many come with as much as they may, the next one still finds room.
 */
const TENANT_SHARE = 0.25;

/** The disk space of files that pass through, on their way in or out: who holds how much of it. */
export class Spool {
  readonly #options: SpoolOptions;
  /** By tenant, bytes granted. */
  readonly #held = new Map<string, number>();
  #heldByAll = 0;
  /** Granted, and not written yet as far as is known. */
  #unwritten = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** For one file of a tenant in a folder; disposing of it, when the file is deleted, gives its room back. */
  hold(tenant: string, folder: string): SpoolHold {
    const { freeBytesOf = freeBytesBy } = this.#options;
    return new SpoolHold({
      freeBytes: () => freeBytesOf(folder),
      take: (bytes, freeBytes) => {
        if (!this.#take(tenant, bytes, freeBytes)) throw this.#options.refusal();
      },
      written: (bytes) => (this.#unwritten -= bytes),
      giveBack: (bytes) => this.#add(tenant, -bytes),
    });
  }

  #take(tenant: string, bytes: number, freeBytes: number): boolean {
    const held = this.#held.get(tenant) ?? 0;
    const left = Math.max(0, freeBytes - this.#options.reserveBytes - this.#unwritten);
    const { share = 1 } = this.#options;
    if (bytes > left || held + bytes > TENANT_SHARE * (left + held)) return false;
    if (this.#heldByAll + bytes > share * (left + this.#heldByAll)) return false;
    this.#add(tenant, bytes);
    this.#unwritten += bytes;
    return true;
  }

  #add(tenant: string, bytes: number): void {
    this.#heldByAll += bytes;
    const held = (this.#held.get(tenant) ?? 0) + bytes;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
  }
}

interface Account {
  freeBytes(): Promise<number>;
  take(bytes: number, freeBytes: number): void;
  written(bytes: number): void;
  giveBack(bytes: number): void;
}

/** The room that one file has on the disk. It grows while the file does. */
export class SpoolHold implements Disposable {
  readonly #account: Account;
  #granted = 0;
  #unwritten = 0;

  constructor(account: Account) {
    this.#account = account;
  }

  /**
   * Grows to so many bytes in all, before they are written. Whatever was granted before counts as written.
   * @throws the spool's refusal when the disk has no room for it
   */
  async growTo(bytes: number): Promise<void> {
    if (bytes <= this.#granted) return;
    const freeBytes = await this.#account.freeBytes();
    this.#settle();
    const more = bytes - this.#granted;
    this.#account.take(more, freeBytes);
    this.#granted = bytes;
    this.#unwritten = more;
  }

  /** The file has all its bytes, and no more. */
  complete(bytes: number): void {
    this.#settle();
    this.#account.giveBack(this.#granted - bytes);
    this.#granted = bytes;
  }

  [Symbol.dispose](): void {
    this.complete(0);
  }

  #settle(): void {
    this.#account.written(this.#unwritten);
    this.#unwritten = 0;
  }
}

/** What an ordinary account may write there, not root. */
async function freeBytesBy(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
