import { addressBlock } from '../../services/identity/admission/address-block.ts';
import type { Step } from '../call.ts';
import { tellWindows } from '../rate-headers.ts';

/** Counts a call that needs no key by the address it comes from, where the operation has such a limit. */
export const limitStrangers: Step = {
  name: 'limit-strangers',
  problems: ['rate_limit_exceeded'],
  async run(call, next) {
    const { operation, http, door, requestId, origin } = call;
    if (operation.strangerLimit !== undefined)
      await tellWindows(
        http,
        door.admission.countStranger(operation.strangerLimit, addressBlock(origin.clientAddress), {
          requestId,
          origin,
        }),
      );
    await next();
  },
};
