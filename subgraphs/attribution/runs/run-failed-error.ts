import type { RunFailure } from './run.ts';

/** Ends a run for good: another attempt would meet the same. */
export class RunFailedError extends Error {
  readonly failure: RunFailure;

  constructor(failure: RunFailure) {
    super(failure.message);
    this.name = 'RunFailedError';
    this.failure = failure;
  }
}
