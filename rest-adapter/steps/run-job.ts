import { credentialEnded } from '../../services/identity/keys/credential-standing.ts';
import type { Call, Step } from '../call.ts';
import { answerWithEvents } from '../event-answer.ts';
import { execute } from '../graph.ts';
import { interruptible } from '../interruptible.ts';
import { isFinished, isLast, readJob, watchJob } from '../job-progress.ts';
import type { Job, Json } from '../operation.ts';
import { waitPreference } from '../preferences.ts';
import { keepingLastEvent } from '../replay.ts';
import type { ServerSentEvent } from '../sse.ts';

/** Who does not wait for the end waits this long for the beginning: what is then read later is no earlier state. */
const BEGINNING_S = 0.2;
const isUnderWay = ({ data }: ServerSentEvent): boolean => (data as Json)['status'] === 'processing';

/** What a client that got an unfinished resource should wait before it looks again. */
const POLL_AFTER_S = 2;

/** Starts a job and answers with its events, or with its resource once it is finished or the wait is over. */
export const runJob: Step = {
  name: 'run-job',
  problems: [],
  async run(call) {
    const { operation, request } = call;
    const job = operation.job!;
    const { input, ...sections } = operation.variables(request);
    const data = await execute(call, operation.document!, { input, ...sections });
    const started = operation.present(data, request, call.baseUrl)!;
    const id = String(started['id']);

    if ((request.query as { stream?: boolean }).stream === true) {
      const watched = watchJob(call, job, id, { ...sections, after: 0 });
      call.answer = answerWithEvents(call, call.held === null ? watched : keepingLastEvent(watched, call.held));
      return;
    }
    const { waitS, applied } = waitPreference((request.headers as { prefer?: string }).prefer);
    const resource = isFinished(started)
      ? started
      : waitS === 0
        ? await follow(call, job, id, sections, BEGINNING_S, isUnderWay)
        : await follow(call, job, id, sections, waitS, () => false);
    call.answer = {
      status: operation.success.status,
      // The contract calls what is handed over unfinished `processing`; the resource itself tells whether it waits.
      body: isFinished(resource) ? resource : { ...resource, status: 'processing' },
      headers: {
        ...(applied === null ? {} : { 'Preference-Applied': applied }),
        ...(isFinished(resource)
          ? {}
          : { Location: `${call.baseUrl}${job.resourcePath(id)}`, 'Retry-After': String(POLL_AFTER_S) }),
      },
    };
  },
};

/**
 * Waits for an event that is enough, or the job's last one, for `waitS` seconds at most, and not beyond the client's,
 * the credential's or the server's end. The history is read from its start, so that nothing is missed between the start
 * of the job and the subscription.
 * @throws ProblemError `expired_api_key`
 */
async function follow(
  call: Call,
  job: Job,
  id: string,
  sections: Json,
  waitS: number,
  isEnough: (event: ServerSentEvent) => boolean,
): Promise<Json> {
  const { door, http } = call;
  const over = new AbortController();
  const giveUp = (): void => over.abort();
  const timer = setTimeout(giveUp, waitS * 1000);
  const ended = new AbortController();
  const forget = call.whenEnded(() => ended.abort());
  ended.signal.addEventListener('abort', giveUp, { once: true });
  http.res.once('close', giveUp);
  // Whoever left meanwhile does not leave again.
  if (http.res.destroyed) giveUp();
  door.closing.addEventListener('abort', giveUp, { once: true });
  if (door.closing.aborted) giveUp();
  try {
    const events = watchJob(call, job, id, { ...sections, after: 0 });
    for await (const event of interruptible(events, over.signal, (error) =>
      call.logger.warn({ err: error }, 'could not end a subscription'),
    )) {
      if (event.event === 'result') return event.data as Json;
      if (isLast(event) || isEnough(event)) break;
    }
  } catch (error) {
    // The job runs on without its watcher, and the resource tells where it is.
    call.logger.warn({ err: error }, 'could not watch a job until its end');
  } finally {
    clearTimeout(timer);
    forget();
    http.res.off('close', giveUp);
    door.closing.removeEventListener('abort', giveUp);
  }
  if (ended.signal.aborted) throw credentialEnded();
  return readJob(call, job, id, sections);
}
