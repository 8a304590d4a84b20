import type { Readable } from 'node:stream';

/**
 * The lines of a stream of UTF-8, one at a time, without their ends. Unlike node:readline, it throws what the stream
 * fails with.
 */
export async function* textLines(stream: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== '') yield rest;
}
