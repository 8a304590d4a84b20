import type { AttributionFailure } from './attribution.ts';

/** The run cannot give figures; `failure` says why in words that a shop owner can act on. */
export class AnalysisFailedError extends Error {
  readonly failure: AttributionFailure;

  constructor(failure: AttributionFailure) {
    super(failure.message);
    this.name = 'AnalysisFailedError';
    this.failure = failure;
  }
}
