import { ProblemError } from '../../schema/problems.ts';
import { whileCredentialLasts } from '../../services/identity/admission/while-credential-lasts.ts';
import { BODY_TIMEOUT_MS, hasBody, MEBIBYTE } from '../body-stream.ts';
import type { Step } from '../call.ts';
import { needsBody } from '../operation.ts';
import { readJson } from '../read-json.ts';

/** Reads and parses the JSON body. */
export const readBody: Step = {
  name: 'read-body',
  problems: ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
  async run(call, next) {
    const { http, operation, door } = call;
    if (hasBody(http.req)) {
      const maxBytes = operation.bodyLimitBytes ?? MEBIBYTE;
      const idleTimeoutMs = door.config.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
      // A larger body may take longer in proportion: what is refused is a slow client, not a large file.
      const reading = readJson(http.req, {
        maxBytes,
        idleTimeoutMs,
        totalTimeoutMs: idleTimeoutMs * (maxBytes / MEBIBYTE),
      });
      call.body = await whileCredentialLasts((ended) => call.whenEnded(ended), reading);
    }
    if (call.body === undefined && needsBody(operation))
      throw new ProblemError(
        'invalid_request',
        'This operation needs a JSON body. Send an object, as Content-Type: application/json.',
        { code: 'missing_body' },
      );
    await next();
  },
};
