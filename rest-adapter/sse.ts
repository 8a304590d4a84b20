import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { Logger } from 'pino';
import { interruptible } from './interruptible.ts';

/** One event of a stream; `id` is what a client sends back as Last-Event-ID. */
export interface ServerSentEvent {
  readonly id: number;
  readonly event: string;
  readonly data: unknown;
}

/** Only moves the id on: a client that reconnects names it, but dispatches no event (WHATWG HTML §9.2.6). */
export interface ResumePoint {
  readonly id: number;
  readonly event: null;
}

export interface EventStreamOptions {
  /** Silence after which a comment keeps proxies from closing the connection. */
  readonly heartbeatMs: number;
  /** The data of an event as the client's version has it. */
  readonly present: (data: unknown) => unknown;
  /** Fires when the server goes down. */
  readonly closing: AbortSignal;
  /** Calls back when the caller's credential has ended; the returned function cancels the watch. */
  readonly whenEnded: (ended: () => void) => () => void;
  readonly logger: Logger;
}

/** How long a browser waits before it reconnects, and how soon it may when the server said goodbye. */
const RETRY_MS = 3000;
const RETRY_AFTER_CLOSING_MS = 1000;

/**
 * Writes events as `text/event-stream` (WHATWG HTML §9.2). The events are abandoned when the client goes away, and
 * what produces them is not. When the server closes or the source breaks, the stream ends without a last event:
 * the client reconnects with the id of the last event it saw and misses nothing.
 */
export function openEventStream(
  events: AsyncIterator<ServerSentEvent | ResumePoint>,
  options: EventStreamOptions,
): Readable {
  const stream = new PassThrough();
  const over = new AbortController();
  stream.once('close', () => over.abort());
  const endOnClosing = (): void => over.abort();
  options.closing.addEventListener('abort', endOnClosing, { once: true });
  if (options.closing.aborted) over.abort();
  // A last word would be an event of the job; whoever reconnects is told why by a 401.
  const forget = options.whenEnded(() => over.abort());
  const heartbeat = setInterval(() => {
    if (!stream.writableNeedDrain) stream.write(': hb\n\n');
  }, options.heartbeatMs);
  stream.write(`retry: ${RETRY_MS}\n\n`);

  const report = (error: unknown): void =>
    options.logger.warn({ err: error }, 'an event stream broke; its client may resume');
  void copy(interruptible(events, over.signal, report), stream, options.present, over.signal)
    .catch((error: unknown) => {
      if (!over.signal.aborted) report(error);
    })
    .finally(() => {
      clearInterval(heartbeat);
      forget();
      options.closing.removeEventListener('abort', endOnClosing);
      if (stream.destroyed) return;
      stream.end(
        options.closing.aborted
          ? `retry: ${RETRY_AFTER_CLOSING_MS}\n: the server is restarting; reconnect to resume\n\n`
          : '',
      );
    });
  return stream;
}

async function copy(
  events: AsyncIterable<ServerSentEvent | ResumePoint>,
  stream: PassThrough,
  present: EventStreamOptions['present'],
  over: AbortSignal,
): Promise<void> {
  for await (const event of events) {
    if (
      !stream.write(event.event === null ? `id: ${event.id}\n\n` : formatEvent({ ...event, data: present(event.data) }))
    )
      await once(stream, 'drain', { signal: over });
  }
}

/** `id`, `event` and one line of JSON. JSON escapes line breaks, so that the data cannot end the event early. */
export function formatEvent({ id, event, data }: ServerSentEvent): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
