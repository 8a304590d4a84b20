import { ProblemError } from '../../schema/problems.ts';
import { printable } from '../../report/terminal-text.ts';
import { BadInputError } from './bad-input-error.ts';

export interface ExplainedFailure {
  readonly kind: 'badInput' | 'internal' | 'interrupted';
  readonly text: string;
}

/** What a failed command tells its user: one line for what the user can mend, the whole stack for what we must. */
export function explainFailure(error: unknown): ExplainedFailure {
  if (error instanceof BadInputError) return badInput(error.message);
  if (error instanceof ProblemError && error.problem.status >= 400 && error.problem.status < 500)
    return badInput(error.message);
  if (error instanceof Error && error.name === 'AbortError') return { kind: 'interrupted', text: 'Interrupted.' };
  return {
    kind: 'internal',
    text:
      `Something went wrong inside Liftgraph. Please report ` +
      `this:\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  };
}

function badInput(message: string): ExplainedFailure {
  return { kind: 'badInput', text: printable(`error: ${message}`) };
}
