import { ProblemError } from '../../../../schema/problems.ts';

/** Of one account: each holds a file until its reader has it. A dashboard that fetches every level at once has four. */
const MAX_OPEN_PER_ACCOUNT = 4;

/** The exports of each account that are being written or read. */
export class OpenExports {
  readonly #open = new Map<string, number>();

  /**
   * Lets one more in.
   * @param over aborts when its reader has it all, or has gone
   * @returns lets it go before that
   * @throws ProblemError `rate_limit_exceeded` / `concurrency` when the account has many already
   */
  enter(account: string, over: AbortSignal): () => void {
    over.throwIfAborted();
    const open = this.#open.get(account) ?? 0;
    if (open >= MAX_OPEN_PER_ACCOUNT) {
      throw new ProblemError(
        'rate_limit_exceeded',
        `${open} of your exports are open already. Read one to its end, or close it, before you ask for the next.`,
        { code: 'concurrency', retryAfterS: 2 },
      );
    }
    this.#open.set(account, open + 1);
    const leave = (): void => {
      over.removeEventListener('abort', leave);
      const left = this.#open.get(account)! - 1;
      if (left === 0) this.#open.delete(account);
      else this.#open.set(account, left);
    };
    over.addEventListener('abort', leave, { once: true });
    return leave;
  }
}
