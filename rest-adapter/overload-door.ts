import type { IncomingMessage, RequestListener } from 'node:http';
import type { Admission } from '../services/identity/admission/admission.ts';
import { ProblemError } from '../schema/problems.ts';
import { securityHeaders } from './browser-rules.ts';
import { CONTRACT } from './contract.ts';
import { cutUnwantedBody } from './edge.ts';
import { errorObject } from './error-answer.ts';
import { CURRENT_VERSION } from './versions.ts';

export interface OverloadDoorOptions {
  readonly publicBaseUrl: string;
  /** All of one length. */
  readonly newRequestId: () => string;
  /** Counts every request, and sends some away. */
  readonly admission: Pick<Admission, 'arrive' | 'refuseWhenOverloaded'>;
}

const BASE_PATH = '/v1';
/** Operations that may be answered without admission, or whose errors have a shape of their own (RFC 6749). */
const UNGUARDED: ReadonlySet<string> = new Set(
  CONTRACT.filter(({ kind }) => kind === 'publicRead' || kind === 'publicWrite' || kind === 'oauth').map(
    ({ path }) => BASE_PATH + path,
  ),
);

/**
 * Stands before everything else and sends away what comes while there is too much to do, by a message that is ready but
 * for its number: the cheaper a refusal, the more is left for those who are let in. Requests that need another message,
 * or may be answered without the database, go the long way.
 */
export function createOverloadDoor(options: OverloadDoorOptions, inside: RequestListener): RequestListener {
  const { publicBaseUrl, newRequestId, admission } = options;
  let ready: ReadyAnswer | undefined;
  return (request, response) => {
    const { authorization } = request.headers;
    response.once('close', admission.arrive(authorization));
    const problem = isPlain(request) ? refusalOf(() => admission.refuseWhenOverloaded(authorization)) : undefined;
    if (problem === undefined) return inside(request, response);
    if (ready?.problem !== problem) ready = readyAnswer(problem, newRequestId(), publicBaseUrl);
    const requestId = newRequestId();
    if (!request.complete) response.once('finish', () => cutUnwantedBody(request));
    response.writeHead(problem.problem.status, { ...ready.headers, 'X-Request-Id': requestId });
    response.end(request.method === 'HEAD' ? undefined : `${ready.before}${requestId}${ready.after}`);
  };
}

/**
 * Whether the answer is known in advance: of a call to the guarded part of REST, that shows a key, comes from no web
 * page, and wants our own errors in today's version.
 */
function isPlain({
  url = '',
  headers: { authorization, origin, accept, 'svc-api-version': version = CURRENT_VERSION },
}: IncomingMessage): boolean {
  if (
    authorization === undefined ||
    origin !== undefined ||
    version !== CURRENT_VERSION ||
    accept?.includes('problem') === true
  )
    return false;
  const [path = ''] = url.split('?', 1);
  return path.startsWith(`${BASE_PATH}/`) && !UNGUARDED.has(path);
}

interface ReadyAnswer {
  readonly problem: ProblemError;
  readonly headers: Readonly<Record<string, string>>;
  readonly before: string;
  readonly after: string;
}

function readyAnswer(problem: ProblemError, requestId: string, publicBaseUrl: string): ReadyAnswer {
  const error = errorObject(problem, requestId, publicBaseUrl);
  const body = JSON.stringify({ error });
  const [before = '', after = ''] = body.split(requestId);
  const headers = {
    ...securityHeaders(publicBaseUrl.startsWith('https:')),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Retry-After': String(error['retry_after']),
    'Cache-Control': 'no-store',
    'SVC-API-Version': CURRENT_VERSION,
    'SVC-HREI-Score': '0.00',
    'SVC-HREI-Risk': 'minimal',
    Vary: 'Accept, Authorization, SVC-API-Version',
  };
  return { problem, headers, before, after };
}

function refusalOf(refuse: () => void): ProblemError | undefined {
  try {
    refuse();
    return undefined;
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
}
