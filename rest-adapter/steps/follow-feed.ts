import type { Json } from '../operation.ts';
import type { Call, Step } from '../call.ts';
import { answerWithEvents } from '../event-answer.ts';
import { subscribe } from '../graph.ts';
import type { ResumePoint, ServerSentEvent } from '../sse.ts';

/**
 * Streams what happens, without an end. The first item comes at once, so that a refusal is still an ordinary answer.
 */
export const followFeed: Step = {
  name: 'follow-feed',
  problems: [],
  async run(call) {
    const items = subscribe(call, call.operation.document!, call.operation.variables(call.request));
    const first = await items.next();
    call.answer = answerWithEvents(call, presented(call, first, items));
  },
};

function presented(
  call: Call,
  first: IteratorResult<Json>,
  items: AsyncIterator<Json>,
): AsyncIterator<ServerSentEvent | ResumePoint> {
  let ahead: IteratorResult<Json> | null = first;
  return {
    async next() {
      const { done, value } = ahead ?? (await items.next());
      ahead = null;
      if (done === true) return { done, value: undefined };
      return {
        done: false,
        value: inVersion(
          call,
          call.operation.present(value, call.request, call.door.config.publicBaseUrl) as unknown as
            | ServerSentEvent
            | ResumePoint,
        ),
      };
    },
    async return() {
      await items.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** A message says which version its data follows. */
function inVersion(call: Call, item: ServerSentEvent | ResumePoint): ServerSentEvent | ResumePoint {
  return item.event === null ? item : { ...item, data: { ...(item.data as Json), api_version: call.apiVersion } };
}
