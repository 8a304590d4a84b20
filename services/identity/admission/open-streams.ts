import { ProblemError } from '../../../schema/problems.ts';
import type { ShownCredential } from './admission.ts';

/**
 * Event streams and subscriptions that one key may have open in one process, together with the tokens that it was shown
 * for.
 */
export const MAX_STREAMS_PER_KEY = 100;
/** The same for an account with all its keys, those of the sandbox among them. */
export const MAX_STREAMS_PER_ACCOUNT = 200;
/** Of everybody. Each costs its connection and some memory. */
export const MAX_STREAMS = 4_000;
/** The last of them are kept for accounts that have few: whoever fills the rest shuts out himself. */
export const RESERVED_STREAMS = 1_000;
export const FEW_STREAMS = 10;
/** How soon another try makes sense: streams end when their clients say so. */
const RETRY_AFTER_S = 1;

/** Whose stream it is. */
export type StreamHolder = Pick<ShownCredential, 'keyId' | 'accountId'>;

/** Counts the streams that this process has open: by key, by account, and in all. */
export class OpenStreams {
  readonly #byKey = new Counts();
  readonly #byAccount = new Counts();
  #open = 0;

  /**
   * Counts one more stream.
   * @returns takes it off the count; more than once is no harm
   * @throws ProblemError `rate_limit_exceeded` (`concurrency`)
   */
  open({ keyId, accountId }: StreamHolder): () => void {
    const ofAccount = this.#byAccount.of(accountId);
    if (this.#byKey.of(keyId) >= MAX_STREAMS_PER_KEY)
      throw tooMany(
        `At most ${MAX_STREAMS_PER_KEY} streams and subscriptions run at a time with one key. End one of them first.`,
      );
    if (ofAccount >= MAX_STREAMS_PER_ACCOUNT)
      throw tooMany(
        `At most ${MAX_STREAMS_PER_ACCOUNT} streams and subscriptions run at a time for one account, whatever its ` +
          `keys. End one of them first.`,
      );
    const left = MAX_STREAMS - this.#open;
    if (left <= 0)
      throw tooMany('The service has as many streams and subscriptions open as it can. Try again in a second.');
    if (left <= RESERVED_STREAMS && ofAccount >= FEW_STREAMS)
      throw tooMany(
        `The service has few streams and subscriptions left, and keeps them for accounts with less than ` +
          `${FEW_STREAMS}. Try again later, or end one of yours first.`,
      );
    this.#byKey.add(keyId, 1);
    this.#byAccount.add(accountId, 1);
    this.#open += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#byKey.add(keyId, -1);
      this.#byAccount.add(accountId, -1);
      this.#open -= 1;
    };
  }
}

function tooMany(message: string): ProblemError {
  return new ProblemError('rate_limit_exceeded', message, { code: 'concurrency', retryAfterS: RETRY_AFTER_S });
}

/** Numbers by name; names without any are forgotten. */
class Counts {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, change: 1 | -1): void {
    const count = this.of(name) + change;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }
}
