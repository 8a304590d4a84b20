import type { Step } from '../call.ts';
import { resolveApiVersion } from '../versions.ts';

/** Resolves SVC-API-Version; without the header the current version applies. */
export const negotiateVersion: Step = {
  name: 'negotiate-version',
  problems: ['unsupported_api_version'],
  async run(call, next) {
    const { door } = call;
    call.apiVersion = resolveApiVersion(call.http.get('SVC-API-Version'), { versions: door.config.retiredApiVersions ?? [], now: door.clock() });
    await next();
  },
};
