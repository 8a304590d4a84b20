import { Readable } from 'node:stream';
import type { HeldClaim } from '../services/idempotency/claims.ts';
import type { Answer, Call } from './call.ts';
import { answerWithEvents } from './event-answer.ts';
import { isLast } from './job-progress.ts';
import type { KeptAnswer } from './kept-answer.ts';
import type { ServerSentEvent } from './sse.ts';

/** Tells clients that nothing happened this time (contract §9.6). */
const REPLAYED = { 'SVC-Idempotent-Replayed': 'true' };

/** An answer with a body, or none. */
export function kept(answer: Answer, contentDigest: string | null): KeptAnswer {
  if (answer.body instanceof Readable) throw new TypeError('a stream is kept by its last event');
  return { ...answer, body: answer.body, headers: { ...answer.headers }, contentDigest };
}

/** The answer as it was given, or a stream of one event in place of the stream that it was. */
export function replayed(call: Call, { lastEvent, status, body, mediaType, trust, headers }: KeptAnswer): Answer {
  if (lastEvent !== undefined)
    return { ...answerWithEvents(call, only(lastEvent)), status, headers: { ...headers, ...REPLAYED } };
  return {
    status,
    body,
    headers: { ...headers, ...REPLAYED },
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(trust === undefined ? {} : { trust }),
  };
}

/**
 * Events that keep their last one before it is sent. A stream that ends without one, since its client or the server
 * left, gives the claim up: the next request finds what was started, and watches that.
 */
export function keepingLastEvent(
  events: AsyncIterator<ServerSentEvent>,
  held: HeldClaim<KeptAnswer>,
): AsyncIterator<ServerSentEvent> {
  let isOver = false;
  const giveUp = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await held.giveUp();
  };
  return {
    async next() {
      try {
        const result = await events.next();
        if (result.done === true) await giveUp();
        else if (isLast(result.value) && !isOver) {
          isOver = true;
          await held.keep({ status: 200, body: null, headers: {}, lastEvent: result.value, contentDigest: null });
        }
        return result;
      } catch (error) {
        await giveUp();
        throw error;
      }
    },
    async return() {
      await giveUp();
      return (await events.return?.()) ?? { done: true, value: undefined };
    },
  };
}

async function* only(event: ServerSentEvent): AsyncGenerator<ServerSentEvent> {
  yield event;
}
