import type { Step } from '../call.ts';

/** Gives the request the id that its answer, its errors and its log lines carry. */
export const assignRequestId: Step = {
  name: 'assign-request-id',
  problems: [],
  async run(call, next) {
    call.requestId = call.door.newRequestId();
    call.http.res.setHeader('X-Request-Id', call.requestId);
    await next();
  },
};
