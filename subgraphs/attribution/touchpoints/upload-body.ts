import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ProblemError } from '../../../schema/problems.ts';

export type ContentEncoding = 'gzip' | 'identity';

const GZIP_MAGIC = [0x1f, 0x8b];

/** The decoded content of an upload, with its size and digest once it has been read to the end. */
export interface UploadBody {
  readonly content: AsyncIterable<Uint8Array>;
  readonly bytes: () => number;
  /** `sha256:` + hex. */
  readonly digest: () => string;
}

/**
 * Decodes, counts and hashes a body as it passes through; a file that is gzip without saying so is decoded too.
 * @throws ProblemError (while it is read) `payload_too_large` beyond `maxBytes` decoded, which is what bounds a gzip bomb;
 * `validation_error` with code `corrupt_gzip`
 */
export function uploadBody(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, encoding: ContentEncoding, maxBytes: number): UploadBody {
  const hash = createHash('sha256');
  let bytes = 0;
  async function* content(): AsyncGenerator<Uint8Array> {
    for await (const piece of await decoded(body, encoding)) {
      bytes += piece.length;
      if (bytes > maxBytes) throw new ProblemError('payload_too_large', `The content is larger than ${maxBytes} bytes. Send it in several uploads.`);
      hash.update(piece);
      yield piece;
    }
  }
  let digest: string | undefined;
  return { content: content(), bytes: () => bytes, digest: () => (digest ??= `sha256:${hash.digest('hex')}`) };
}

async function decoded(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, encoding: ContentEncoding): Promise<AsyncIterable<Uint8Array>> {
  const [head, whole] = await peek(body);
  const isGzip = GZIP_MAGIC.every((byte, index) => head[index] === byte);
  return encoding === 'gzip' || isGzip ? gunzipped(whole) : whole;
}

async function* gunzipped(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  // The failure of either side surfaces where `gunzip` is read.
  pipeline(Readable.from(body, { objectMode: false }), gunzip, () => undefined);
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw error;
    throw new ProblemError('validation_error', 'The content is not valid gzip, or it ends too early. Compress it again, or send it uncompressed.', { code: 'corrupt_gzip', cause: error });
  }
}

/** The first piece, and the body with it still in front. */
async function peek(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<[Uint8Array, AsyncIterable<Uint8Array>]> {
  const iterator = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  const first = await iterator.next();
  if (first.done === true) return [new Uint8Array(0), Readable.from([], { objectMode: false })];
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      for (let step: IteratorResult<Uint8Array> = first; step.done !== true; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
    }
  }
  return [first.value, whole()];
}
