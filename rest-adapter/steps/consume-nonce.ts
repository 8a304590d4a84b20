import type { Step } from '../call.ts';

/** Uses up the nonce of a state-changing request, so that the request cannot be replayed. */
export const consumeNonce: Step = {
  name: 'consume-nonce',
  problems: ['missing_nonce', 'duplicate_nonce', 'invalid_request'],
  async run(call, next) {
    const { http, door, principal, origin } = call;
    await door.admission.consumeNonce(principal, origin.clientAddress, http.get('X-Nonce') || undefined);
    await next();
  },
};
