import { createHash } from 'node:crypto';
import type { RejectCode } from '../rejects.ts';
import type { TextColumn } from './block-columns.ts';
import { TextCell, type Cell } from './cells.ts';

const AT = 0x40;
const UPPER_A = 0x41;
const UPPER_F = 0x46;
const DIGEST_CHARACTERS = 64;
/** Something, @, and a host with a point: what people have for addresses, no more. */
const ADDRESS = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;
const DIGEST = /^[0-9a-f]{64}$/i;

/**
 * The id of a person. An e-mail address is never stored: in its place stands the SHA-256 of the address without blanks
 * around it and in lower case, as 64 hexadecimal digits; so does a file that has such digests already, whatever their
 * case. Any other id stays as it is.
 */
export class UserCell implements Cell {
  readonly #text = new TextCell(true);

  get isEmpty(): boolean {
    return this.#text.isEmpty;
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    const fault = this.#text.read(data, start, end);
    if (fault !== null) return fault;
    const isDigestLong = end - start === DIGEST_CHARACTERS;
    for (let at = start; at < end; at += 1) {
      const byte = data[at]!;
      if (byte === AT || (isDigestLong && byte >= UPPER_A && byte <= UPPER_F))
        return this.#readInstead(normalised(Buffer.from(data.subarray(start, end)).toString()));
    }
    return null;
  }

  shown(): string {
    return this.#text.shown();
  }

  addTo(column: TextColumn): void {
    this.#text.addTo(column);
  }

  #readInstead(id: string): RejectCode | null {
    const bytes = Buffer.from(id);
    return this.#text.read(bytes, 0, bytes.length);
  }
}

function normalised(id: string): string {
  if (DIGEST.test(id)) return id.toLowerCase();
  const address = id.trim().toLowerCase();
  return ADDRESS.test(address) ? createHash('sha256').update(address).digest('hex') : id;
}
