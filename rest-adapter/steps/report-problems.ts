import { ProblemError } from '../../schema/problems.ts';
import type { Step } from '../call.ts';
import { problemAnswer } from '../error-answer.ts';

/** Turns whatever the later steps throw into the Error structure. What is no problem of ours is logged and masked. */
export const reportProblems: Step = {
  name: 'report-problems',
  problems: ['internal_error', 'service_unavailable'],
  async run(call, next) {
    try {
      await next();
    } catch (error) {
      call.answer = problemAnswer(call, error instanceof ProblemError ? error : masked(error));
      if (call.answer.status >= 500 && !isRefusedUnderLoad(error)) call.logger.error({ err: error }, 'request failed');
    }
  },
};

/** The database says when that begins and ends, and how many it were: a line for each would be more work just when there is no time. */
function isRefusedUnderLoad(error: unknown): boolean {
  return error instanceof ProblemError && error.problem.code === 'overloaded';
}

/** What a caller hears of an error that is none of the contract's. */
export function masked(cause: unknown): ProblemError {
  return new ProblemError('internal_error', 'Something went wrong on our side. Quote the request id when you report it.', { cause });
}
