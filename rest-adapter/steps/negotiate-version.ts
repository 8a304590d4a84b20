import { ProblemError } from '../../schema/problems.ts';
import type { Step } from '../call.ts';
import { API_VERSIONS, isApiVersion } from '../versions.ts';

/** Resolves SVC-API-Version; without the header the current version applies. */
export const negotiateVersion: Step = {
  name: 'negotiate-version',
  problems: ['unsupported_api_version'],
  async run(call, next) {
    const wanted = call.http.get('SVC-API-Version').trim();
    if (wanted !== '') {
      if (!isApiVersion(wanted)) throw new ProblemError('unsupported_api_version', `SVC-API-Version must be one of ${API_VERSIONS.join(', ')}.`, { param: 'header:SVC-API-Version' });
      call.apiVersion = wanted;
    }
    await next();
  },
};
