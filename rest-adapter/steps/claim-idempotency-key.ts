import { Readable } from 'node:stream';
import { ProblemError } from '../../schema/problems.ts';
import type { Taken } from '../../services/idempotency/claims.ts';
import {
  claimScope,
  fingerprintOf,
  idempotencyConflict,
  isKept,
  isOfClaim,
  readIdempotencyKey,
  rightsOf,
  sortedQuery,
} from '../../services/idempotency/idempotency-key.ts';
import type { Call, Step } from '../call.ts';
import { problemAnswer } from '../error-answer.ts';
import { isFinished } from '../job-progress.ts';
import { keptAnswer, type KeptAnswer } from '../kept-answer.ts';
import type { Json } from '../operation.ts';
import { kept, replayed } from '../replay.ts';
import { streamedDigest } from './ingest-upload.ts';

/** Methods that a key is read with (contract §4). */
export const KEYED_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Answers a request that was answered before as it was answered then; else lets it happen and keeps the answer, where
 * it is one to keep. What the body of a streamed upload holds is compared by its digest, once it has passed.
 */
export const claimIdempotencyKey: Step = {
  name: 'claim-idempotency-key',
  problems: ['invalid_request', 'idempotency_conflict', 'idempotency_in_progress'],
  async run(call, next) {
    const { http } = call;
    const key = KEYED_METHODS.has(http.method)
      ? readIdempotencyKey(http.get('SVC-Idempotency-Key') || undefined, http.get('Idempotency-Key') || undefined)
      : undefined;
    if (key === undefined) return next();
    const taken = await take(call, key);
    if ('answer' in taken) {
      call.answer = replayed(call, await comparable(call, taken.answer));
      return;
    }
    call.held = taken.held;
    try {
      await next();
    } catch (error) {
      if (!(error instanceof ProblemError) || !isKept(error.problem.status) || isOfClaim(error)) {
        await taken.held.giveUp();
        throw error;
      }
      call.answer = problemAnswer(call, error);
    }
    await keep(call);
  },
};

function take(call: Call, key: string): Promise<Taken<KeptAnswer>> {
  const { http, door, principal, origin } = call;
  const fingerprint = fingerprintOf({
    method: http.method,
    path: http.path,
    query: sortedQuery(http.querystring),
    body: call.body ?? null,
    version: call.apiVersion,
    rights: rightsOf(principal),
  });
  return door.claims.take({ scope: claimScope(principal, origin.clientAddress), key, fingerprint }, keptAnswer);
}

/** @throws ProblemError `idempotency_conflict` when the answer was given to other content than this request streams */
async function comparable(call: Call, answer: KeptAnswer): Promise<KeptAnswer> {
  if (answer.contentDigest !== null && answer.contentDigest !== (await streamedDigest(call)))
    throw idempotencyConflict();
  return answer;
}

async function keep(call: Call): Promise<void> {
  const { held, answer } = call;
  if (held === null || answer === null) throw new Error('there is nothing to keep');
  if (answer.body instanceof Readable) return;
  // Whoever left did not read that the work goes on: the next request waits for its end.
  const isUnread = call.http.res.closed && call.operation.job !== undefined && !isFinished(answer.body as Json);
  if (isUnread) return held.giveUp();
  const others = await held.keep(kept(answer, call.contentDigest));
  if (others !== null) call.answer = replayed(call, others);
}
