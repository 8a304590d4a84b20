import type { Step } from '../call.ts';

/** Finds out who is calling. */
export const authenticate: Step = {
  name: 'authenticate',
  problems: ['invalid_api_key', 'expired_api_key'],
  async run(call, next) {
    call.principal = await call.door.admission.authenticate(call.http.get('Authorization') || undefined);
    await next();
  },
};
