import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../schema/problems.ts';

export const MEBIBYTE = 1024 ** 2;
/** Longest pause within a body, where the configuration names no other. */
export const BODY_TIMEOUT_MS = 15_000;

const CRUMBS_ALLOWED_BYTES = 64 * 1024;
const MOST_PACKING = 1.2;

/** How large and how slow a body may be. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** Longest pause between two chunks. */
  readonly idleTimeoutMs: number;
  /** Longest time for the whole body; no limit when absent. */
  readonly totalTimeoutMs?: number;
}

/**
 * The chunks of a request body, never buffered. Leaving the loop early leaves the socket alone, so that an error
 * can still be answered.
 * @throws ProblemError `payload_too_large` behind the limit, `invalid_request` when the client stalls or goes away.
 */
export async function* bodyStream(request: IncomingMessage, limits: BodyLimits): AsyncGenerator<Buffer> {
  refuseDeclaredLength(request, limits.maxBytes);
  const startedMs = performance.now();
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  const sentBefore = request.socket.bytesRead;
  let received = 0;
  try {
    for (;;) {
      const leftMs = limits.totalTimeoutMs === undefined ? Infinity : limits.totalTimeoutMs - (performance.now() - startedMs);
      const { done, value } = await arrival(chunks.next(), Math.min(limits.idleTimeoutMs, leftMs));
      if (done === true) return;
      received += value.length;
      if (received > limits.maxBytes) throw tooLarge(limits.maxBytes);
      if (isCrumbled(request.socket.bytesRead - sentBefore, received)) throw new ProblemError('invalid_request', 'The body comes in HTTP chunks of a few bytes each. Send it in larger ones, or with Content-Length.', { code: 'tiny_chunks' });
      yield value;
    }
  } catch (error) {
    throw error instanceof ProblemError ? error : new ProblemError('invalid_request', 'The body ended before it was complete. Send the request again.', { code: 'incomplete_body', cause: error });
  } finally {
    // Not awaited: behind a stalled next() it would wait for the client.
    void chunks.return?.();
  }
}

/**
 * Whether a body comes in chunks of less than some thirty bytes: each costs the parser as much as a large one. What lies around
 * them on the wire tells (RFC 9112 §7.1: the length, and two line ends).
 */
function isCrumbled(sentBytes: number, receivedBytes: number): boolean {
  return sentBytes > CRUMBS_ALLOWED_BYTES && sentBytes > receivedBytes * MOST_PACKING;
}

async function arrival<T>(next: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ProblemError('invalid_request', 'The body stopped arriving. Send the request again, without long pauses.', { code: 'body_timeout' })), Math.max(0, timeoutMs)).unref();
  });
  try {
    return await Promise.race([next, stalled]);
  } finally {
    clearTimeout(timer);
  }
}

/** Of all bodies that have begun to arrive and are not whole. */
const MAX_UNFINISHED_BYTES = 128 * MEBIBYTE;

/** Bodies that are being read into memory, and how much of each is there. */
const unfinished = new Map<IncomingMessage, number>();

/**
 * Reads a whole body into memory. Where many that don't end would fill it, the connection of the largest is cut.
 * @throws as `bodyStream` does.
 */
export async function readWholeBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  try {
    for await (const chunk of bodyStream(request, limits)) {
      chunks.push(chunk);
      received += chunk.length;
      unfinished.set(request, received);
      cutWhereTooMuch();
    }
    return Buffer.concat(chunks);
  } finally {
    unfinished.delete(request);
  }
}

function cutWhereTooMuch(): void {
  let total = 0;
  let largest: IncomingMessage | undefined;
  for (const [request, bytes] of unfinished) {
    total += bytes;
    if (largest === undefined || bytes > unfinished.get(largest)!) largest = request;
  }
  if (total <= MAX_UNFINISHED_BYTES) return;
  unfinished.delete(largest!);
  largest!.destroy();
}

/** True when the request has a body, be it empty. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (request.headers['content-length'] ?? '0') !== '0';
}

function refuseDeclaredLength(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): ProblemError {
  return new ProblemError('payload_too_large', `The body is larger than the ${maxBytes} bytes that this operation takes.`, { code: 'body_too_large' });
}
