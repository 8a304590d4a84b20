import { legacyEncodingsOf, LEGACY_ENCODINGS, type LegacyEncoding } from './legacy-encoding.ts';
import type { Question } from './questions.ts';
import { answerTo, refuseQuestions } from './refuse-open-file.ts';

/** How the text of a file may be written. Everything behind the opening of a file reads UTF-8. */
export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | LegacyEncoding;

const SNIFFED_BYTES = 4_096;
/** Of the pairs of bytes in text of mostly Latin letters, so many have a NUL on one side and none on the other. */
const LEAST_SHARE_OF_NULS = 0.3;
const NON_ASCII = 0x80;
const SAMPLE_BYTES = 64 * 1024;
const LF = 0x0a;
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
  answers: Readonly<Record<string, string>>,
): AsyncGenerator<Uint8Array> {
  let decoder: TextDecoder | null | undefined;
  for await (const piece of content) {
    if (decoder === undefined) {
      const encoding = wanted === 'auto' ? encodingOfStart(piece, answers) : wanted;
      decoder = encoding === 'utf-8' ? null : new TextDecoder(encoding);
    }
    yield decoder === null ? piece : Buffer.from(decoder.decode(piece, { stream: true }));
  }
  if (decoder != null) yield Buffer.from(decoder.decode());
}

function encodingOfStart(piece: Uint8Array, answers: Readonly<Record<string, string>>): TextEncoding {
  const evidence = new EncodingEvidence();
  evidence.add(piece);
  return utf16In(piece) ?? evidence.encoding(answers);
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
  /** Lines that hold bytes beyond ASCII. */
  readonly #sample: Uint8Array[] = [];
  #sampled = 0;

  add(piece: Uint8Array): void {
    this.#keep(piece);
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

  /**
   * @param answers to questions about the file
   * @throws RefusedFileError `ambiguous_encoding`
   */
  encoding(answers: Readonly<Record<string, string>>): TextEncoding {
    // A letter that the end of a piece cuts in two is sound so far.
    const unsound = this.#unsound;
    if (unsound <= MOST_DAMAGE * (unsound + this.#sound)) return 'utf-8';
    const sample = Buffer.concat(this.#sample);
    const found = legacyEncodingsOf(sample);
    const question = questionOf(sample, found);
    const given = answers[question.id];
    if (given !== undefined) return answerTo(question, given) as LegacyEncoding;
    if (found.length > 1) refuseQuestions([question]);
    // What can't be Windows-1252 either is UTF-8 with damage.
    const [only = 'windows-1252'] = found;
    return only === 'windows-1252' && this.#alien > 0 ? 'utf-8' : only;
  }

  #keep(piece: Uint8Array): void {
    if (this.#sampled >= SAMPLE_BYTES) return;
    const first = piece.findIndex((byte) => byte >= NON_ASCII);
    if (first < 0) return;
    const from = piece.lastIndexOf(LF, first) + 1;
    const kept = piece.subarray(from, Math.max(first, from + SAMPLE_BYTES - this.#sampled));
    // A line that is cut may be cut within a letter.
    const lines = kept.subarray(0, kept.lastIndexOf(LF) + 1 || kept.length);
    this.#sampled += lines.length;
    this.#sample.push(Uint8Array.from(lines));
  }
}

const LONGEST_EXAMPLE = 60;

/** The likely ones first, each with what the text would be. */
function questionOf(sample: Uint8Array, likely: readonly LegacyEncoding[]): Question {
  const others = LEGACY_ENCODINGS.filter((encoding) => !likely.includes(encoding));
  return {
    id: 'encoding',
    column: '',
    code: 'ambiguous_encoding',
    message: 'The text of the file is no UTF-8, and may be written in several older ways. Which one is it?',
    options: [...likely, ...others].map((encoding) => ({ value: encoding, label: exampleIn(encoding, sample) })),
  };
}

function exampleIn(encoding: LegacyEncoding, sample: Uint8Array): string {
  const text = new TextDecoder(encoding).decode(sample.subarray(0, LONGEST_EXAMPLE * 4));
  const from = Math.max(0, text.search(/\P{ASCII}/u));
  return text
    .slice(from, from + LONGEST_EXAMPLE)
    .replaceAll(/\p{C}+/gu, ' ')
    .toWellFormed();
}
