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
      const problem = error instanceof ProblemError ? error : masked(error);
      if (call.admitted !== null) await call.door.admission.noticeRefusal(problem, call.admitted, call);
      call.answer = problemAnswer(call, problem);
      if (call.answer.status >= 500 && !isRefusedByState(error)) call.logger.error({ err: error }, 'request failed');
    }
  },
};

/**
 * Overload and a disk that is nearly full: the log has when each begins and ends. A line for each refusal would take
 * time and room just when they lack.
 */
function isRefusedByState(error: unknown): boolean {
  return error instanceof ProblemError && ['overloaded', 'disk_nearly_full'].includes(error.problem.code ?? '');
}

/** What a caller hears of an error that is none of the contract's. */
export function masked(cause: unknown): ProblemError {
  return new ProblemError(
    'internal_error',
    'Something went wrong on our side. Quote the request id when you report it.',
    { cause },
  );
}
