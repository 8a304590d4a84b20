import type { Step } from '../call.ts';
import { answerWithEvents } from '../event-answer.ts';
import { isFinished, lastEvent, readJob, watchJob } from '../job-progress.ts';
import type { ServerSentEvent } from '../sse.ts';

/**
 * Streams a job's events from behind the one that the client saw last. Once a finished job has nothing left to
 * tell, the answer is 204, upon which EventSource stops reconnecting (WHATWG HTML §9.2).
 */
export const streamProgress: Step = {
  name: 'stream-progress',
  problems: [],
  async run(call) {
    const { operation, request } = call;
    const job = operation.job!;
    const { id, after, ...sections } = operation.variables(request);
    const resource = await readJob(call, job, String(id), sections);
    if (!isFinished(resource)) {
      call.answer = answerWithEvents(call, watchJob(call, job, String(id), { ...sections, after }));
      return;
    }
    // The result is here already: the history need not bring it along.
    const history = (await replay(watchJob(call, job, String(id), { ...sections, after, result: false }))).map(
      (event) => (event.event === 'result' ? { ...event, data: resource } : event),
    );
    if (history.length === 0 && Number(after) > 0) {
      call.answer = { status: 204, body: null, headers: {} };
      return;
    }
    // Events are kept for an hour, the resource for longer: whoever asks from the start gets its end.
    const events = iterate(history.length > 0 ? history : [lastEvent(call, resource, 1)]);
    call.answer = { ...answerWithEvents(call, events), trust: resource['trust'] };
  },
};

/** All that a finished job has left to tell; its subscription ends by itself. */
async function replay(events: AsyncIterator<ServerSentEvent>): Promise<ServerSentEvent[]> {
  const history: ServerSentEvent[] = [];
  for (let next = await events.next(); next.done !== true; next = await events.next()) history.push(next.value);
  return history;
}

async function* iterate(events: readonly ServerSentEvent[]): AsyncGenerator<ServerSentEvent> {
  yield* events;
}
