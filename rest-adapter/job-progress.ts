import { channelMembersThatApply } from '../schema/attribution-result.ts';
import { ProblemError, type ProblemType } from '../schema/problems.ts';
import type { Call } from './call.ts';
import { errorObject } from './error-answer.ts';
import { execute, subscribe } from './graph.ts';
import type { Job, Json } from './operation.ts';
import type { ServerSentEvent } from './sse.ts';

const PROGRESS_MEMBERS = ['status', 'stage', 'progress', 'message', 'eta_seconds', 'iteration', 'converged'];

/** What a failed job is as a problem. */
const FAILURE_TYPES: Readonly<Record<string, ProblemType>> = {
  insufficient_data: 'validation_error',
  amount_out_of_range: 'validation_error',
  data_quality_insufficient: 'validation_error',
  source_unavailable: 'data_source_unavailable',
  cancelled: 'conflict',
};

/** The resource behind a job as it stands now. @throws ProblemError `resource_not_found` */
export async function readJob(call: Call, job: Job, id: string, variables: Json): Promise<Json> {
  const resource = rootField(await execute(call, job.resourceDocument, { ...variables, id }));
  if (resource === null) throw new ProblemError('resource_not_found', `There is no ${id}, or it is not yours.`);
  return job.present(resource);
}

/** The job's events from behind `after`, ending with its result or error. */
export function watchJob(call: Call, job: Job, id: string, variables: Json): AsyncIterableIterator<ServerSentEvent> {
  const upstream = subscribe(call, job.progressDocument, { ...variables, id });
  let isOver = false;
  return {
    async next() {
      if (isOver) return { done: true, value: undefined };
      const { done, value } = await upstream.next();
      const progress = done === true ? null : rootField(value);
      if (progress === null) {
        isOver = true;
        return { done: true, value: undefined };
      }
      const event = presentEvent(call, job, id, progress);
      isOver = isLast(event);
      if (isOver) await upstream.return?.();
      return { done: false, value: event };
    },
    async return() {
      isOver = true;
      await upstream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Nothing more will happen to the resource of a job. */
export function isFinished(resource: Json): boolean {
  return resource['status'] === 'completed' || resource['status'] === 'failed';
}

/** The event that ends the stream of a finished job. */
export function lastEvent(call: Call, resource: Json, sequence: number): ServerSentEvent {
  return resource['status'] === 'failed'
    ? failureEvent(call, sequence, (resource['failure'] ?? {}) as Json)
    : { id: sequence, event: 'result', data: resource };
}

/** Nothing follows it. */
export function isLast({ event }: ServerSentEvent): boolean {
  return event === 'result' || event === 'error';
}

function presentEvent(call: Call, job: Job, id: string, progress: Json): ServerSentEvent {
  const sequence = Number(progress['sequence']);
  const result = progress['result'] as Json | null | undefined;
  switch (progress['kind']) {
    case 'result':
      return { id: sequence, event: 'result', data: result == null ? null : job.present(result) };
    case 'error':
      return failureEvent(call, sequence, { code: progress['failure_code'], message: progress['message'] });
    case 'channel_result':
      return {
        id: sequence,
        event: 'channel_result',
        data: { id, model: progress['model'], provisional: true, channel_impact: provisionalCredit(progress) },
      };
    default:
      return {
        id: sequence,
        event: 'progress',
        data: {
          id,
          ...Object.fromEntries(
            PROGRESS_MEMBERS.filter((name) => progress[name] !== undefined).map((name) => [name, progress[name]]),
          ),
        },
      };
  }
}

/** No margin is known yet. */
const provisionalCredit = ({ channel_impact: channels }: Json): unknown =>
  Array.isArray(channels) ? (channels as Json[]).map((channel) => channelMembersThatApply(channel, false)) : channels;

function failureEvent(call: Call, sequence: number, { code, message }: Json): ServerSentEvent {
  const problem = new ProblemError(
    FAILURE_TYPES[String(code)] ?? 'internal_error',
    typeof message === 'string' ? message : 'The job failed.',
    typeof code === 'string' ? { code } : {},
  );
  return {
    id: sequence,
    event: 'error',
    data: { error: errorObject(problem, call.requestId, call.door.config.publicBaseUrl) },
  };
}

function rootField(data: Json): Json | null {
  return (Object.values(data)[0] ?? null) as Json | null;
}
