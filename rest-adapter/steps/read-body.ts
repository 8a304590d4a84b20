import { ProblemError } from '../../schema/problems.ts';
import { hasBody, readWholeBody } from '../body-stream.ts';
import type { Step } from '../call.ts';
import { isUtf8, parseMediaType } from '../media-type.ts';
import { needsBody } from '../operation.ts';
import { parseJson } from '../parse-json.ts';

export const DEFAULT_TIMEOUT_MS = 15_000;
const MEBIBYTE = 1024 ** 2;

/** Reads and parses the JSON body. */
export const readBody: Step = {
  name: 'read-body',
  problems: ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
  async run(call, next) {
    const { http, operation, door } = call;
    if (hasBody(http.req)) {
      const mediaType = parseMediaType(http.get('Content-Type'));
      if (mediaType.essence !== 'application/json' || !isUtf8(mediaType)) throw new ProblemError('unsupported_media_type', 'Send the body as Content-Type: application/json in UTF-8.', { param: 'header:Content-Type' });
      if (!['', 'identity'].includes(http.get('Content-Encoding').toLowerCase())) throw new ProblemError('unsupported_media_type', 'This operation takes its body uncompressed.', { code: 'unsupported_encoding', param: 'header:Content-Encoding' });
      const maxBytes = operation.bodyLimitBytes ?? MEBIBYTE;
      const idleTimeoutMs = door.config.bodyTimeoutMs ?? DEFAULT_TIMEOUT_MS;
      // A larger body may take longer in proportion: what is refused is a slow client, not a large file.
      const bytes = await readWholeBody(http.req, { maxBytes, idleTimeoutMs, totalTimeoutMs: idleTimeoutMs * (maxBytes / MEBIBYTE) });
      if (bytes.length > 0) call.body = parseJson(bytes);
    }
    if (call.body === undefined && needsBody(operation)) throw new ProblemError('invalid_request', 'This operation needs a JSON body.', { code: 'missing_body' });
    await next();
  },
};
