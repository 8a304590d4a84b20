import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { pipeline as piped } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { ReadingLimits } from '../reading-limits.ts';
import { invalidFile, limitExceeded, RefusedFileError } from './refused-file.ts';

export type ContentEncoding = 'gzip' | 'identity';

const GZIP_MAGIC = [0x1f, 0x8b] as const;
const PIECE_BYTES = 256 * 1024;
/** Room on the disk is asked for in steps of this. */
const ROOM_STEP_BYTES = 16 * 1024 * 1024;

/**
 * The decoded content of a file: unpacked, counted and hashed as it passes. Gzip that does not say so is unpacked too.
 * While it is read it throws RefusedFileError: `payload_too_large` beyond `maxBytes` decoded, `validation_error` with
 * code `corrupt_gzip` or `file_limit_exceeded` (it unfolds to more than its size allows).
 */
export class FileContent implements AsyncIterable<Uint8Array> {
  readonly #path: string;
  readonly #isGzip: boolean;
  readonly #maxBytes: number;
  readonly #maxUnfolded: number;
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;

  private constructor(path: string, isGzip: boolean, maxBytes: number, maxUnfolded: number) {
    this.#path = path;
    this.#isGzip = isGzip;
    this.#maxBytes = maxBytes;
    this.#maxUnfolded = maxUnfolded;
  }

  static async open(
    path: string,
    encoding: ContentEncoding,
    maxBytes: number,
    limits: ReadingLimits,
  ): Promise<FileContent> {
    const file = await open(path);
    try {
      const [{ size }, head] = await Promise.all([file.stat(), file.read(Buffer.alloc(2), 0, 2, 0)]);
      const isGzip = encoding === 'gzip' || GZIP_MAGIC.every((byte, index) => head.buffer[index] === byte);
      const { free, perByte } = limits.unfoldedBytes;
      return new FileContent(path, isGzip, maxBytes, isGzip ? free + perByte * size : Infinity);
    } finally {
      await file.close();
    }
  }

  /** Decoded bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `sha256:` + hex, once all of it has been read. */
  digest(): string {
    return `sha256:${this.#hash.digest('hex')}`;
  }

  /**
   * Reads all of it.
   * @param room waits until so many bytes in all may be unpacked
   * @returns a file with the decoded content: the file itself, or the unpacked one
   */
  async asPlainFile(unpackedPath: string, room: (bytes: number) => Promise<void>): Promise<string> {
    if (!this.#isGzip) {
      for await (const piece of this) void piece;
      return this.#path;
    }
    await piped(
      Readable.from(this.#within(room), { objectMode: false }),
      createWriteStream(unpackedPath, { flags: 'wx', mode: 0o600 }),
    ).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') throw error;
      throw new RefusedFileError({
        type: 'service_unavailable',
        message:
          'The disk of the service has no room to unpack this file now. Send it uncompressed, or try again later.',
        code: 'disk_full',
      });
    });
    return unpackedPath;
  }

  async *#within(room: (bytes: number) => Promise<void>): AsyncGenerator<Uint8Array> {
    let granted = 0;
    for await (const piece of this) {
      if (this.#bytes > granted) await room((granted = this.#bytes + ROOM_STEP_BYTES));
      yield piece;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const file = createReadStream(this.#path, { highWaterMark: PIECE_BYTES });
    for await (const piece of this.#isGzip ? gunzipped(file) : (file as AsyncIterable<Uint8Array>)) {
      this.#bytes += piece.length;
      if (this.#bytes > this.#maxBytes) throw tooLarge(this.#maxBytes);
      if (this.#bytes > this.#maxUnfolded)
        throw limitExceeded('its compressed content unfolds too far', `${this.#maxUnfolded} bytes`);
      this.#hash.update(piece);
      yield piece;
    }
  }
}

const tooLarge = (maxBytes: number): RefusedFileError =>
  new RefusedFileError({
    type: 'payload_too_large',
    message: `The content is larger than ${maxBytes} bytes. Send it in several uploads.`,
  });

async function* gunzipped(file: NodeJS.ReadableStream): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  // The failure of either side surfaces where `gunzip` is read.
  pipeline(file, gunzip, () => undefined);
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw error;
    throw invalidFile(
      'corrupt_gzip',
      'The content is not valid gzip, or it ends too early. Compress it again, or send it uncompressed.',
    );
  }
}
