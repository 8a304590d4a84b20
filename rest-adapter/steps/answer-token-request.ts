import { ProblemError, type ProblemDetail } from '../../schema/problems.ts';
import { jsonPointer, requestProblem, withoutNulls } from '../../schema/request-faults.ts';
import { isResource } from '../../services/identity/oauth/issuer.ts';
import type { TokenRequest } from '../../services/identity/oauth/token-endpoint.ts';
import { recordEnvelope } from '../../services/trust/envelope.ts';
import type { Call, Step } from '../call.ts';
import type { Json } from '../operation.ts';
import { presentTrust } from '../representations/trust-envelope.ts';
import { parse } from './validate-request.ts';

/** RFC 6749 §5.1 asks for it beside `Cache-Control: no-store`, for caches of HTTP/1.0. */
export const UNCACHED = { Pragma: 'no-cache' } as const;

/** Checks the members of a token request, JSON or form, and has the authorization server answer it. */
export const answerTokenRequest: Step = {
  name: 'answer-token-request',
  problems: ['invalid_request'],
  async run(call) {
    const { operation, door } = call;
    const { value, errors } = parse(operation.bodySchema, withoutNulls(operation.bodySchema, call.body), jsonPointer);
    if (errors.length > 0) throw refusal(errors);
    call.request = { ...call.request, body: value };
    const asked = operation.variables(call.request);
    const answer = operation.tokenEndpoint === 'revoke' ? await revoke(call, asked) : await exchange(call, asked);
    const trust = presentTrust(recordEnvelope(1, door.clock(), call.apiVersion));
    call.answer = {
      status: operation.success.status,
      body: operation.present({ ...answer, trust }, call.request, door.config.publicBaseUrl),
      headers: UNCACHED,
    };
  },
};

async function exchange(call: Call, { resource, ...asked }: Json): Promise<Json> {
  const { door } = call;
  if (typeof resource === 'string' && !isResource(resource, door.config.publicBaseUrl))
    throw new ProblemError('invalid_request', 'resource: is not an address of this service', {
      code: 'invalid_target',
      param: '/resource',
    });
  return { ...(await door.oauth.tokens.exchange(asked as unknown as TokenRequest, call.context)) };
}

async function revoke({ door, context }: Call, { token }: Json): Promise<Json> {
  await door.oauth.tokens.revoke(String(token), context);
  return {};
}

/**
 * RFC 6749 §5.2: all that is wrong with the form of a request is `invalid_request`, an unknown grant excepted; 400 in
 * both.
 */
function refusal(errors: readonly ProblemDetail[]): ProblemError {
  const [first] = errors;
  if (first?.code !== 'unsupported_grant_type') return requestProblem('invalid_request', errors);
  return new ProblemError('unsupported_grant_type', `grant_type: ${first.message}`, { param: first.param });
}
