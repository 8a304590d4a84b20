import type { Step } from '../call.ts';
import { clientSubject } from '../oauth/client-subject.ts';
import { tellWindows } from '../rate-headers.ts';

/** Counts a token request by the client that it names and the address that it comes from. */
export const limitClients: Step = {
  name: 'limit-clients',
  problems: ['rate_limit_exceeded'],
  async run(call, next) {
    const { http, door, body, requestId, origin } = call;
    const clientId =
      typeof body === 'object' && body !== null ? (body as { readonly client_id?: unknown }).client_id : undefined;
    await tellWindows(
      http,
      door.admission.countStranger('oauth', clientSubject(clientId, origin.clientAddress), { requestId, origin }),
    );
    await next();
  },
};
