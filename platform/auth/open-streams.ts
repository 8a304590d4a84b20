import { ProblemError } from '../../schema/problems.ts';

/** Event streams and subscriptions that one key may have open in one process, together with the tokens that it was shown for. */
export const MAX_STREAMS_PER_KEY = 100;
/** How soon another try makes sense: streams end when their clients say so. */
const RETRY_AFTER_S = 1;

/** Counts the streams that this process has open, by key. */
export class OpenStreams {
  readonly #counts = new Map<string, number>();

  /**
   * Counts one more stream.
   * @returns takes it off the count; more than once is no harm
   * @throws ProblemError `rate_limit_exceeded` (`concurrency`)
   */
  open(keyId: string): () => void {
    const count = this.#counts.get(keyId) ?? 0;
    if (count >= MAX_STREAMS_PER_KEY) {
      throw new ProblemError('rate_limit_exceeded', `At most ${MAX_STREAMS_PER_KEY} streams and subscriptions run at a time with one key. End one of them first.`, { code: 'concurrency', retryAfterS: RETRY_AFTER_S });
    }
    this.#counts.set(keyId, count + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = this.#counts.get(keyId)! - 1;
      if (left === 0) this.#counts.delete(keyId);
      else this.#counts.set(keyId, left);
    };
  }
}
