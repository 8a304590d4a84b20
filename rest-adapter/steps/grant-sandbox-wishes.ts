import { FORCIBLE_PROBLEMS, grantSandboxWishes } from '../../services/identity/admission/sandbox-wishes.ts';
import type { Step } from '../call.ts';

/** Lets a test key ask for a slow job, or for an error that it wants to see. */
export const grantWishes: Step = {
  name: 'grant-sandbox-wishes',
  problems: ['validation_error', ...FORCIBLE_PROBLEMS],
  async run(call, next) {
    const { http } = call;
    call.sandboxDelayMs = grantSandboxWishes(call.principal, {
      delay: http.get('SVC-Sandbox-Delay') || undefined,
      force: http.get('SVC-Sandbox-Force') || undefined,
    });
    await next();
  },
};
