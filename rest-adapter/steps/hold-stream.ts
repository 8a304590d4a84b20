import { finished } from 'node:stream';
import type { Step } from '../call.ts';

/**
 * Counts an event stream for as long as its answer lasts; refuses it, before anything is done, where its key has too
 * many.
 */
export const holdStream: Step = {
  name: 'hold-stream',
  problems: ['rate_limit_exceeded'],
  async run(call, next) {
    const { operation, request, http } = call;
    if (operation.kind !== 'job' || (request.query as { stream?: boolean }).stream === true)
      finished(http.res, call.openStream());
    await next();
  },
};
