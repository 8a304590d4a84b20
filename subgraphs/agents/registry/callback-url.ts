import { z } from 'zod';
import { callableUrl, RefusedAddressError } from '../../../platform/outgoing/address-rules.ts';

/** An address that commission notifications may go to; names are looked up, and judged, when they are called. */
export const callbackUrl = z.string().superRefine((text, context) => {
  try {
    callableUrl(text, { allowPrivate: false });
  } catch (error) {
    if (!(error instanceof RefusedAddressError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});
