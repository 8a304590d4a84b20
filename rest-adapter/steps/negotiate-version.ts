import type { Step } from '../call.ts';

/** Resolves SVC-API-Version; without the header the current version applies. */
export const negotiateVersion: Step = {
  name: 'negotiate-version',
  problems: ['unsupported_api_version'],
  async run(call, next) {
    call.apiVersion = call.resolveVersion(call.http.get('SVC-API-Version'));
    await next();
  },
};
