import type { ReadingLimits } from '../reading-limits.ts';
import { limitExceeded, unreadableParquet } from './refused-file.ts';

/**
 * What the pages of one Parquet file may take together. A footer costs little and may name the same pages for each of
 * many row groups: without this, the work of reading a file would not go by its size.
 */
export class PageAllowance {
  readonly #unpackedAllowed: number;
  readonly #entriesAllowed: number;
  #bytesLeft: number;
  #unpackedLeft: number;
  #entriesLeft: number;

  constructor(fileBytes: number, { unfoldedBytes, parquetRows }: ReadingLimits) {
    this.#bytesLeft = fileBytes;
    this.#unpackedAllowed = unfoldedBytes.free + unfoldedBytes.perByte * fileBytes;
    this.#unpackedLeft = this.#unpackedAllowed;
    this.#entriesAllowed = parquetRows.free + parquetRows.perByte * fileBytes;
    this.#entriesLeft = this.#entriesAllowed;
  }

  /**
   * A page that is about to be read, with its header: no byte of a sound file belongs to two.
   * @throws RefusedFileError `unreadable_parquet`, `file_limit_exceeded`
   */
  page(bytes: number, unpackedBytes: number): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw unreadableParquet();
    this.#unpackedLeft -= unpackedBytes;
    if (this.#unpackedLeft < 0)
      throw limitExceeded('its compressed pages unfold too far', `${this.#unpackedAllowed} bytes`);
  }

  /** @throws RefusedFileError `file_limit_exceeded` */
  dictionary(entries: number): void {
    this.#entriesLeft -= entries;
    if (this.#entriesLeft < 0) throw limitExceeded('its dictionaries are too long', `${this.#entriesAllowed} entries`);
  }
}
