import { countRefused as countRefusedRequest } from '../../services/identity/admission/count-refused.ts';
import type { Step } from '../call.ts';
import { tellWindows } from '../rate-headers.ts';

/**
 * What is refused before anybody knows who is calling (401, 404, 405, an unknown version) tells where a window stands
 * too.
 */
export const countRefused: Step = {
  name: 'count-refused',
  problems: [],
  async run(call, next) {
    await next();
    const { http, door, answer, requestId, origin } = call;
    const isRefusal = answer !== null && answer.status >= 400 && answer.status < 500;
    if (!isRefusal || http.res.hasHeader('RateLimit')) return;
    await tellWindows(http, countRefusedRequest(door.admission, { requestId, origin }));
  },
};
