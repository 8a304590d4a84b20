import { ProblemError } from '../../schema/problems.ts';
import { addressBlock } from '../../services/identity/admission/address-block.ts';
import type { Step } from '../call.ts';
import { tellWindows } from '../rate-headers.ts';

/**
 * Counts what is refused before anybody knows who is calling (401, 404, 405, an unknown version) by the address that it
 * comes from, so that every answer says where a window stands. The refusal itself stays what it is.
 */
export const countRefused: Step = {
  name: 'count-refused',
  problems: [],
  async run(call, next) {
    await next();
    const { http, door, answer, requestId, origin } = call;
    const isRefusal = answer !== null && answer.status >= 400 && answer.status < 500;
    if (!isRefusal || http.res.hasHeader('RateLimit')) return;
    try {
      await tellWindows(
        http,
        door.admission.countStranger('anonymous', addressBlock(origin.clientAddress), { requestId, origin }),
      );
    } catch (error) {
      // Windows that are used up are told all the same; without the database there are none to tell of.
      if (!(error instanceof ProblemError)) throw error;
    }
  },
};
