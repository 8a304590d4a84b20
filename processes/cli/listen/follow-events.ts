import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { errorBody } from '../../../rest-adapter/representations/error.ts';
import { BadInputError } from '../bad-input-error.ts';
import { EventStreamParser } from './event-stream.ts';

/** The message of an event: what webhooks send, to the byte. */
export interface HeardEvent {
  /** Whoever comes back with it sees what follows this event. */
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  /** JSON in one line. */
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface FollowOptions {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly key: string;
  readonly types: readonly string[] | null;
  /** Position to begin behind; null begins now. */
  readonly after: string | null;
  readonly signal: AbortSignal;
  /** The stream is open. */
  readonly onOpen: (position: string) => void;
  /** It is not, and will be tried again. */
  readonly onLost: (reason: string, waitMs: number) => void;
  /** Between 0 and 1. */
  readonly random?: () => number;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** The service says something every 15 s; a connection that is silent for longer is dead. */
const SILENCE_MS = 40_000;

const messageSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  timestamp: z.string(),
  data: z.record(z.string(), z.unknown()),
});

/**
 * The events of the key's account as they happen. A connection that is lost is opened again, later each time, behind
 * the last event that was handed out: none is missed, and none comes twice.
 * @throws BadInputError where the service refuses, since trying again would not help
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<HeardEvent, void> {
  const { signal, onLost, random = Math.random } = options;
  let position = options.after;
  let failures = 0;
  while (!signal.aborted) {
    const parser = new EventStreamParser(position ?? '');
    let reason: string;
    const watchdog = new Watchdog(signal);
    try {
      const response = await open(options, position, watchdog.signal);
      let isOpen = false;
      for await (const text of textOf(response)) {
        watchdog.feed();
        for (const { lastEventId, event } of parser.push(text)) {
          if (lastEventId === '') continue;
          if (!isOpen) options.onOpen(position ?? lastEventId);
          isOpen = true;
          failures = 0;
          if (event !== null) {
            watchdog.stop();
            yield heard(lastEventId, event.data);
            watchdog.feed();
          }
          // Only what was dealt with is not asked for again.
          position = lastEventId;
        }
      }
      reason = 'the service has ended the stream';
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof UnreachableError)) throw error;
      reason = error.message;
      if (error.waitMs !== null) parser.retryMs = error.waitMs;
    } finally {
      watchdog.stop();
    }
    const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS) * (0.5 + random() / 2);
    const waitMs = Math.max(parser.retryMs ?? 0, backoffMs);
    failures += 1;
    if (signal.aborted) return;
    onLost(reason, waitMs);
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The service is away, or asks to come back later. */
class UnreachableError extends Error {
  readonly waitMs: number | null;

  constructor(message: string, waitMs: number | null, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreachableError';
    this.waitMs = waitMs;
  }
}

/** @throws BadInputError, UnreachableError */
async function open(
  { baseUrl, key, types }: FollowOptions,
  position: string | null,
  signal: AbortSignal,
): Promise<Response> {
  const address = `${baseUrl}/events${types === null ? '' : `?types=${types.map(encodeURIComponent).join(',')}`}`;
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'text/event-stream',
    ...(position === null ? {} : { 'last-event-id': position }),
  };
  const response = await fetch(address, { headers, signal, redirect: 'manual' }).catch((error: Error) => {
    throw new UnreachableError(`${baseUrl} cannot be reached: ${whyOf(error)}`, null, { cause: error });
  });
  if (response.status === 200 && response.headers.get('content-type')?.startsWith('text/event-stream') === true)
    return response;
  const text = await response.text().catch(() => '');
  const retryAfterS = Number(response.headers.get('retry-after') ?? 0);
  if (response.status === 429 || response.status >= 500)
    throw new UnreachableError(
      `the service answers ${response.status}${messageIn(text)}`,
      Number.isFinite(retryAfterS) && retryAfterS > 0 ? retryAfterS * 1000 : null,
    );
  if (response.status === 401)
    throw new BadInputError(
      `The service refuses the key${messageIn(text)} Give a key that is valid, with --key or LIFTGRAPH_KEY.`,
    );
  if (response.status === 403) throw new BadInputError(`The key may not listen to this${messageIn(text)}`);
  if (messageIn(text) !== '') throw new BadInputError(`The service refuses the request${messageIn(text)}`);
  throw new BadInputError(
    `${address}: there is no event stream, but ${response.status}. Give the address of a Liftgraph with --url, for ` +
      `example http://127.0.0.1:4000.`,
  );
}

/** `: message` of an Error body; nothing for any other text. */
function messageIn(text: string): string {
  try {
    return `: ${errorBody.parse(JSON.parse(text)).error.message}`;
  } catch {
    return '';
  }
}

async function* textOf(response: Response): AsyncGenerator<string> {
  try {
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) yield text;
  } catch (error) {
    throw new UnreachableError(`the connection was lost: ${whyOf(error as Error)}`, null, { cause: error });
  }
}

/** @throws BadInputError */
function heard(position: string, body: string): HeardEvent {
  try {
    const { id, type, timestamp, data } = messageSchema.parse(JSON.parse(body));
    return { position, id, type, timestamp, data, body };
  } catch (error) {
    throw new BadInputError('What came is not an event of Liftgraph. Is this program as new as the service?', {
      cause: error,
    });
  }
}

function whyOf(error: Error): string {
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  // The system's codes are known to everybody, those of libraries to nobody.
  return cause?.code?.startsWith('E') === true ? cause.code : (cause?.message ?? error.message);
}

/** Aborts when the user does, or when nothing was heard for too long. */
class Watchdog {
  readonly #silence = new AbortController();
  readonly signal: AbortSignal;
  #timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#silence.signal]);
    this.feed();
  }

  feed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#silence.abort(new Error(`nothing was heard for ${SILENCE_MS / 1000} s`)),
      SILENCE_MS,
    );
  }

  /** Over, or nobody listens while an event is dealt with. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
