import { PROBLEM_TYPES, ProblemError } from '../schema/problems.ts';
import { ACTIONS } from '../schema/actions.ts';
import { challengeOf } from '../services/identity/admission/challenge.ts';
import type { Answer, Call } from './call.ts';
import { rootUrl } from './links.ts';
import { preferredType } from './media-type.ts';
import type { Json } from './operation.ts';

/** Seconds that a client should wait where the problem itself does not say. */
const DEFAULT_RETRY_S: Readonly<Record<string, number>> = {
  service_unavailable: 5,
  rate_limit_exceeded: 60,
  idempotency_in_progress: 1,
};

/** The inner `error` object of the contract's Error structure, with its additive members where they say something. */
export function errorObject(problem: ProblemError, requestId: string, publicBaseUrl: string): Json {
  const { type, code, param, errors, dataQuality } = problem.problem;
  const retryAfter = retryAfterS(problem);
  return {
    type,
    message: problem.message,
    request_id: requestId,
    doc_url: `${rootUrl(publicBaseUrl)}/docs/errors/${type}`,
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param }),
    ...(errors === undefined ? {} : { errors }),
    ...(dataQuality === undefined ? {} : { data_quality: dataQuality }),
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
  };
}

/**
 * The answer to a problem: the Error structure, or RFC 9457 problem details where the client prefers those,
 * with the headers that belong to its status.
 */
export function problemAnswer(call: Call, problem: ProblemError): Answer {
  const error = errorObject(inRequestTerms(call, problem), call.requestId, call.door.config.publicBaseUrl);
  const status = problem.problem.status;
  const headers = problemHeaders(call, problem);
  if (preferredType(call.http, 'application/json', 'application/problem+json') !== 'application/problem+json')
    return { status, body: { error }, headers };
  const { type: _type, message, request_id: requestId, doc_url: docUrl, ...additional } = error;
  const details: Json = {
    type: docUrl,
    title: PROBLEM_TYPES[problem.type].title,
    status,
    detail: message,
    instance: `urn:request:${String(requestId)}`,
    ...additional,
  };
  return { status, body: details, mediaType: 'application/problem+json', headers };
}

/** The domain names members by JSON Pointer; what stands in the path or query of this request is named as such. */
function inRequestTerms({ route }: Call, problem: ProblemError): ProblemError {
  const { querySchema, bodySchema, pathNames = {} } = route.operation ?? {};
  const query = bodySchema === undefined ? (querySchema?.shape ?? {}) : {};
  return problem.renaming((param) => {
    const [member = ''] = param.startsWith('/') ? param.slice(1).split('/') : [];
    if (Object.hasOwn(pathNames, member)) return `path:${pathNames[member]!}`;
    return Object.hasOwn(query, member) ? `query:${member}` : param;
  });
}

function problemHeaders(call: Call, problem: ProblemError): Record<string, string> {
  const headers: Record<string, string> = {};
  const retryAfter = retryAfterS(problem);
  if (retryAfter !== undefined) headers['Retry-After'] = String(retryAfter);
  const challenge = challengeOf(problem, rootUrl(call.door.config.publicBaseUrl), scopeOf(call));
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge;
  if (problem.type === 'method_not_allowed' && call.route.operation === null)
    headers['Allow'] = call.route.allow.join(', ');
  return headers;
}

function scopeOf(call: Call): string | null {
  const action = call.route.operation?.action ?? null;
  return action === null ? null : ACTIONS[action].scope;
}

/** Whole seconds, at least 1. */
function retryAfterS(problem: ProblemError): number | undefined {
  const seconds = problem.problem.retryAfterS ?? DEFAULT_RETRY_S[problem.type];
  return seconds === undefined ? undefined : Math.max(1, Math.ceil(seconds));
}
