import type { Answer, Call } from './call.ts';
import type { Json } from './operation.ts';
import { openEventStream, type ResumePoint, type ServerSentEvent } from './sse.ts';

const DEFAULT_HEARTBEAT_MS = 15_000;

/** Answers with a stream of events, their data in the caller's version. */
export function answerWithEvents(call: Call, events: AsyncIterator<ServerSentEvent | ResumePoint>): Answer {
  const { door } = call;
  const stream = openEventStream(events, {
    heartbeatMs: door.config.heartbeatMs ?? DEFAULT_HEARTBEAT_MS,
    present: (data) => call.inVersion(data as Json),
    closing: door.closing,
    whenEnded: (ended) => call.whenEnded(ended),
    logger: call.logger,
  });
  return { status: 200, body: stream, headers: {} };
}
