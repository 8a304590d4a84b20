import { createHash } from 'node:crypto';

/** A body that is hashed as it passes through. */
export interface DigestedContent {
  readonly body: AsyncIterable<Uint8Array>;
  /** Hex SHA-256; null when the body was not read to its end. */
  digest(): string | null;
}

/**
 * Tells streamed requests apart in constant memory; `kind` is what else makes the content what it is, such as its media
 * type.
 */
export function digested(kind: string, content: AsyncIterable<Uint8Array>): DigestedContent {
  const hash = createHash('sha256').update(`${kind}\n`);
  let digest: string | null = null;
  async function* body(): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      hash.update(piece);
      yield piece;
    }
    digest = hash.digest('hex');
  }
  return { body: body(), digest: () => digest };
}

/** Reads a body to its end and nothing else. */
export async function digestOf(kind: string, content: AsyncIterable<Uint8Array>): Promise<string> {
  const { body, digest } = digested(kind, content);
  for await (const _piece of body);
  return digest()!;
}
