/** How the text of a file may be written. Everything behind the opening of a file reads UTF-8. */
export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

const SNIFFED_BYTES = 4_096;
/** Of the pairs of bytes in text of mostly Latin letters, so many have a NUL on one side and none on the other. */
const LEAST_SHARE_OF_NULS = 0.3;
const NON_ASCII = 0x80;
/** Bytes without a letter in Windows-1252. */
const UNUSED: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
/** A file with so few damaged letters among those that are sound is UTF-8 with damage. */
const MOST_DAMAGE = 0.01;

/**
 * The content as UTF-8, whatever it was written in: `auto` looks at its beginning, where UTF-16 shows by its byte order
 * mark or its NULs, and older text by letters that are no UTF-8.
 */
export async function* asUtf8(
  content: AsyncIterable<Uint8Array>,
  wanted: TextEncoding | 'auto',
): AsyncGenerator<Uint8Array> {
  let decoder: TextDecoder | null | undefined;
  for await (const piece of content) {
    if (decoder === undefined) {
      const encoding = wanted === 'auto' ? encodingOfStart(piece) : wanted;
      decoder = encoding === 'utf-8' ? null : new TextDecoder(encoding);
    }
    yield decoder === null ? piece : Buffer.from(decoder.decode(piece, { stream: true }));
  }
  if (decoder != null) yield Buffer.from(decoder.decode());
}

function encodingOfStart(piece: Uint8Array): TextEncoding {
  const evidence = new EncodingEvidence();
  evidence.add(piece);
  return utf16In(piece) ?? evidence.encoding();
}

function utf16In(start: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  const pairs = Math.floor(Math.min(start.length, SNIFFED_BYTES) / 2);
  let [even, odd] = [0, 0];
  for (let pair = 0; pair < pairs; pair += 1) {
    if (start[2 * pair] === 0) even += 1;
    if (start[2 * pair + 1] === 0) odd += 1;
  }
  if (even === 0 && odd > pairs * LEAST_SHARE_OF_NULS) return 'utf-16le';
  return odd === 0 && even > pairs * LEAST_SHARE_OF_NULS ? 'utf-16be' : undefined;
}

/** Tells over a whole file whether bytes that are no UTF-8 are damage, or letters of the older encoding of Windows. */
export class EncodingEvidence {
  #sound = 0;
  #unsound = 0;
  /** Bytes that stand for nothing in the older encoding either. */
  #alien = 0;
  /** Bytes of the letter under way that are still to come. */
  #due = 0;

  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]!;
      if (this.#due > 0) {
        if ((byte & 0xc0) === NON_ASCII) {
          this.#due -= 1;
          if (this.#due === 0) this.#sound += 1;
          continue;
        }
        this.#unsound += 1;
        this.#due = 0;
      }
      if (UNUSED.has(byte)) this.#alien += 1;
      if (byte < NON_ASCII) continue;
      this.#due =
        byte >= 0xc2 && byte < 0xe0 ? 1 : byte >= 0xe0 && byte < 0xf0 ? 2 : byte >= 0xf0 && byte < 0xf5 ? 3 : 0;
      if (this.#due === 0) this.#unsound += 1;
    }
  }

  encoding(): TextEncoding {
    // A letter that the end of a piece cuts in two is sound so far.
    const unsound = this.#unsound;
    if (this.#alien > 0) return 'utf-8';
    return unsound > MOST_DAMAGE * (unsound + this.#sound) ? 'windows-1252' : 'utf-8';
  }
}
