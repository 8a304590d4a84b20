/** Why a task gave no numbers. Error classes do not cross threads, so failures are plain values. */
export type FailureCode =
  /** the data cannot answer the question; the message says what is missing */
  | 'insufficient_data'
  /** the data names more channels than the model can tell apart in reasonable time */
  | 'too_many_channels'
  /** the input breaks its own contract (lengths, indices, options) */
  | 'invalid_input'
  /** the numbers left the range of floating point */
  | 'out_of_range'
  | 'cancelled'
  /** the pool's queue is full, or the pool is closed */
  | 'unavailable'
  /** a defect of ours */
  | 'failed';

/**
 * Why a task gave no answer: `code` for programs, `message` for people. Failures are returned, since error classes do
 * not survive the way between threads.
 */
export interface Failure {
  readonly ok: false;
  readonly code: FailureCode;
  readonly message: string;
}

/** What a task returns instead of throwing: classes of errors do not survive the way between threads. */
export const failure = (code: FailureCode, message: string): Failure => ({ ok: false, code, message });
/** The data cannot answer the question. */
export const insufficientData = (message: string): Failure => failure('insufficient_data', message);

/**
 * Called from the loops every few milliseconds with the fraction of the task that is done.
 * Throws CancelledError where the caller has asked to stop.
 */
export type Checkpoint = (fraction: number) => void;

/** Ends a task from inside its loops; the thread turns it into a Failure. */
export class CancelledError extends Error {
  constructor() {
    super('The task was cancelled.');
    this.name = 'CancelledError';
  }
}

/** Credit per channel (index = channel of the result's own `channels`): what every model publishes. */
export interface ChannelCredits {
  readonly channels: readonly string[];
  /** conversions credited; sums to the conversions divided (PRAV, causal: to the incremental ones) */
  readonly conversions: Float64Array;
  /** revenue credited, major units; sums to the revenue divided */
  readonly value: Float64Array;
  /** non-negative, sums to 1, or all 0 where the model found nothing */
  readonly share: Float64Array;
}

/** What was divided. */
export interface PathTotals {
  readonly paths: number;
  readonly conversions: number;
  readonly value: number;
  readonly nulls: number;
}

/**
 * Confidence in one channel's credit, 0 … 1: 1 / (1 + width/T + 2·sd), with the width of its interval, the credited
 * total T and the population standard deviation of its share over the models that can be compared (Markov, Shapley,
 * PRAV); a failed test of the credit counts like an interval as wide as T. 0 where T is not positive: there is nothing
 * to be sure of.
 */
export function creditConfidence(width: number, total: number, shares: readonly number[], failedTests = 0): number {
  if (!(total > 0)) return 0;
  const mean = shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
  const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / Math.max(1, shares.length);
  return 1 / (1 + width / total + 2 * Math.sqrt(variance) + failedTests);
}
