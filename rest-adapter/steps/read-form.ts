import { ProblemError } from '../../schema/problems.ts';
import { BODY_TIMEOUT_MS, readWholeBody } from '../body-stream.ts';
import type { Step } from '../call.ts';
import { isUtf8, parseMediaType } from '../media-type.ts';
import type { Json } from '../operation.ts';

/** No token request comes near it. */
const MAX_BYTES = 8 * 1024;
const BASIC_PATTERN = /^Basic +([A-Za-z0-9+/]+=*)$/i;

/**
 * Reads a form body of an OAuth client, and its credentials from the Authorization header where it sends them there.
 */
export const readForm: Step = {
  name: 'read-form',
  problems: ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
  async run(call, next) {
    const { http, door } = call;
    if (!isUtf8(parseMediaType(http.get('Content-Type'))))
      throw new ProblemError('unsupported_media_type', 'Send the form in UTF-8.', { param: 'header:Content-Type' });
    if (!['', 'identity'].includes(http.get('Content-Encoding').toLowerCase()))
      throw new ProblemError('unsupported_media_type', 'Send the form uncompressed.', {
        code: 'unsupported_encoding',
        param: 'header:Content-Encoding',
      });
    const timeoutMs = door.config.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
    const bytes = await readWholeBody(http.req, {
      maxBytes: MAX_BYTES,
      idleTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs,
    });
    call.body = withCredentials(membersOf(bytes.toString('utf8')), basicCredentials(http.get('Authorization')));
    await next();
  },
};

/** A parameter without a value counts as left out, none may come twice (RFC 6749 §3.2). */
function membersOf(form: string): Json {
  const parameters = [...new URLSearchParams(form)];
  const names = new Set<string>();
  for (const [name] of parameters) {
    if (names.has(name))
      throw new ProblemError('invalid_request', `${name.slice(0, 64)} is given more than once.`, {
        code: 'repeated',
        param: `/${name.slice(0, 64)}`,
      });
    names.add(name);
  }
  return Object.fromEntries(parameters.filter(([, value]) => value !== ''));
}

interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

/** RFC 6749 §2.3.1: id and secret, each form-encoded, in a Basic header; other schemes say nothing here. */
function basicCredentials(authorization: string): Credentials | null {
  if (!/^basic\b/i.test(authorization)) return null;
  const encoded = BASIC_PATTERN.exec(authorization)?.[1];
  const [id, ...secret] = encoded === undefined ? [] : Buffer.from(encoded, 'base64').toString('utf8').split(':');
  if (id === undefined || secret.length === 0)
    throw new ProblemError(
      'invalid_client',
      'The Authorization header is not a Basic credential of a client: client_id, a colon, client_secret, in base64.',
      { param: 'header:Authorization' },
    );
  return { client_id: formDecoded(id), client_secret: formDecoded(secret.join(':')) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** A client names itself in one way only (RFC 6749 §2.3); repeating its id in the form is common and harmless. */
function withCredentials(members: Json, credentials: Credentials | null): Json {
  if (credentials === null) return members;
  if (members['client_secret'] !== undefined)
    throw new ProblemError(
      'invalid_request',
      'The client authenticates twice: in the Authorization header and by client_secret. Use one of them.',
      { code: 'repeated', param: '/client_secret' },
    );
  if (members['client_id'] !== undefined && members['client_id'] !== credentials.client_id)
    throw new ProblemError('invalid_request', 'client_id is not the one in the Authorization header.', {
      param: '/client_id',
    });
  return { ...members, ...credentials };
}
