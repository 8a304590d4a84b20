import type { Step } from '../call.ts';
import { clientAddress } from '../client-address.ts';

/** Uses up the nonce of a state-changing request, so that the request cannot be replayed. */
export const consumeNonce: Step = {
  name: 'consume-nonce',
  problems: ['missing_nonce', 'duplicate_nonce', 'invalid_request'],
  async run(call, next) {
    const { http, door } = call;
    const address = clientAddress(http.req.socket.remoteAddress, http.get('X-Forwarded-For') || undefined, door.config.trustedProxyHops);
    await door.admission.consumeNonce(call.principal, address, http.get('X-Nonce') || undefined);
    await next();
  },
};
