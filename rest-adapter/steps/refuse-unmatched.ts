import { ProblemError } from '../../schema/problems.ts';
import type { Step } from '../call.ts';

/** Answers what the contract has no row for, and what failed before any row was found. */
export const refuseUnmatched: Step = {
  name: 'refuse-unmatched',
  problems: ['resource_not_found', 'method_not_allowed'],
  async run(call) {
    const { http, route } = call;
    if (route.operation === null && route.failure !== undefined) throw route.failure;
    if (route.operation === null && route.allow.length > 0)
      throw new ProblemError('method_not_allowed', `${http.path} takes ${route.allow.join(', ')}, not ${http.method}.`);
    throw new ProblemError(
      'resource_not_found',
      `There is nothing at ${http.path}. The operations are listed at /docs.`,
      { code: 'unknown_path' },
    );
  },
};
