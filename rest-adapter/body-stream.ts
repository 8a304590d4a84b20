import type { IncomingMessage } from 'node:http';
import { addressBlock } from '../services/identity/admission/address-block.ts';
import { mostHeld } from '../platform/most-held.ts';
import { ProblemError } from '../schema/problems.ts';
import { clientAddress } from './client-address.ts';

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
      const leftMs =
        limits.totalTimeoutMs === undefined ? Infinity : limits.totalTimeoutMs - (performance.now() - startedMs);
      const { done, value } = await arrival(chunks.next(), Math.min(limits.idleTimeoutMs, leftMs));
      if (done === true) return;
      received += value.length;
      if (received > limits.maxBytes) throw tooLarge(limits.maxBytes);
      if (isCrumbled(request.socket.bytesRead - sentBefore, received))
        throw new ProblemError(
          'invalid_request',
          'The body comes in HTTP chunks of a few bytes each. Send it in larger ones, or with Content-Length.',
          { code: 'tiny_chunks' },
        );
      yield value;
    }
  } catch (error) {
    throw error instanceof ProblemError
      ? error
      : new ProblemError('invalid_request', 'The body ended before it was complete. Send the request again.', {
          code: 'incomplete_body',
          cause: error,
        });
  } finally {
    // Not awaited: behind a stalled next() it would wait for the client.
    void chunks.return?.();
  }
}

/**
 * Whether a body comes in chunks of less than some thirty bytes: each costs the parser as much as a large one. What
 * lies around them on the wire tells (RFC 9112 §7.1: the length, and two line ends).
 */
function isCrumbled(sentBytes: number, receivedBytes: number): boolean {
  return sentBytes > CRUMBS_ALLOWED_BYTES && sentBytes > receivedBytes * MOST_PACKING;
}

async function arrival<T>(next: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new ProblemError(
            'invalid_request',
            'The body stopped arriving. Send the request again, without long pauses.',
            { code: 'body_timeout' },
          ),
        ),
      Math.max(0, timeoutMs),
    ).unref();
  });
  try {
    return await Promise.race([next, stalled]);
  } finally {
    clearTimeout(timer);
  }
}

/** Of all bodies that have begun to arrive and are not whole. */
const MAX_UNFINISHED_BYTES = 128 * MEBIBYTE;

/** A body that is being read into memory. */
interface UnfinishedBody {
  /** The address that it comes from. */
  readonly group: string;
  bytes: number;
  readonly refuse: (problem: ProblemError) => void;
}

const unfinished = new Set<UnfinishedBody>();
let unfinishedBytes = 0;

/**
 * Reads a whole body into memory. Where many that don't end would fill it, bodies of the address that has most there
 * are refused.
 * @throws as `bodyStream` does, and ProblemError `service_unavailable`, code `too_many_bodies`
 */
export async function readWholeBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const refused = Promise.withResolvers<never>();
  const body: UnfinishedBody = {
    group: addressBlock(clientAddress(request.socket.remoteAddress, undefined, 0)),
    bytes: 0,
    refuse: refused.reject,
  };
  unfinished.add(body);
  try {
    return await Promise.race([gathered(request, limits, body), refused.promise]);
  } finally {
    forget(body);
  }
}

async function gathered(request: IncomingMessage, limits: BodyLimits, body: UnfinishedBody): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bodyStream(request, limits)) {
    chunks.push(chunk);
    body.bytes += chunk.length;
    unfinishedBytes += chunk.length;
    if (unfinishedBytes > MAX_UNFINISHED_BYTES) refuseMost();
  }
  return Buffer.concat(chunks);
}

function refuseMost(): void {
  for (const body of mostHeld(unfinished, MAX_UNFINISHED_BYTES)) {
    forget(body);
    body.refuse(
      new ProblemError(
        'service_unavailable',
        'Your address has too many large requests on their way. Send fewer at a time.',
        { code: 'too_many_bodies', retryAfterS: 1 },
      ),
    );
  }
}

function forget(body: UnfinishedBody): void {
  if (unfinished.delete(body)) unfinishedBytes -= body.bytes;
}

/** True when the request has a body, be it empty. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (request.headers['content-length'] ?? '0') !== '0';
}

function refuseDeclaredLength(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number): ProblemError {
  return new ProblemError(
    'payload_too_large',
    `The body is larger than the ${maxBytes} bytes that this operation takes.`,
    { code: 'body_too_large' },
  );
}
