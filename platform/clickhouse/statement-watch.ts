import { EngineError } from './http-request.ts';

/** The engine ends most statements at their limit by itself. */
const GRACE_MS = 2_000;
/** What a write that nobody waits for any more has left to finish. */
const WRITE_GRACE_MS = 1_000;
/** A killed statement ends at its next check: within a second, unless the machine has other work. */
const STUCK_MS = 10_000;
/** A kill that comes before the engine has begun the statement meets nothing. */
const KILL_AGAIN_MS = 1_000;

/** A statement that goes on after it was killed: its process has to end. For its caller it is out of time. */
export class StuckStatementError extends EngineError {
  override readonly name = 'StuckStatementError';

  constructor() {
    super(159, 'TIMEOUT_EXCEEDED', 'The statement did not end when it was killed');
  }
}

/** One statement, as the watch sees it. */
export interface WatchedStatement {
  /** Its `log_comment`, unlike any other's. */
  readonly tag: string;
  /** What is left of its time. */
  readonly limitMs: number;
  /** Aborts when its client has gone. */
  readonly client: AbortSignal;
  /** A write that came whole is let finish for a moment, though its client has gone. */
  readonly isWrite: boolean;
}

/**
 * Ends statements that pass their limit or that nobody waits for any more. The engine has limits of its own, but looks
 * at them between two blocks of data, and some loops never come to that.
 */
export class StatementWatch {
  readonly #kill: (tag: string) => Promise<void>;
  /** How to end those that are not being ended already. */
  readonly #running = new Map<string, () => void>();
  #onOnlyKilled: () => void = () => undefined;

  constructor(kill: (tag: string) => Promise<void>) {
    this.#kill = kill;
  }

  /**
   * @param work ends what it does beside the engine when its signal aborts
   * @throws StuckStatementError; EngineError 159 after the limit; what the work throws
   */
  async run<T>(
    { tag, limitMs, client, isWrite }: WatchedStatement,
    work: (ended: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const timers: NodeJS.Timeout[] = [];
    const stuck = Promise.withResolvers<never>();
    const ended = new AbortController();
    let isOverdue = false;
    const end = (): void => {
      if (!this.#forget(tag)) return;
      ended.abort();
      void this.#kill(tag);
      timers.push(
        setInterval(() => void this.#kill(tag), KILL_AGAIN_MS),
        setTimeout(() => stuck.reject(new StuckStatementError()), STUCK_MS),
      );
    };
    const leave = (): void => void timers.push(setTimeout(end, isWrite ? WRITE_GRACE_MS : 0));
    this.#running.set(tag, end);
    timers.push(
      setTimeout(() => {
        isOverdue = true;
        end();
      }, limitMs + GRACE_MS),
    );
    if (client.aborted) leave();
    else client.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([work(ended.signal), stuck.promise]);
    } catch (error) {
      // Killed from here, it says that it was cancelled, which would pass for an outage.
      throw isOverdue && !(error instanceof StuckStatementError)
        ? new EngineError(159, 'TIMEOUT_EXCEEDED', 'The statement was killed after its time limit')
        : error;
    } finally {
      this.#forget(tag);
      client.removeEventListener('abort', leave);
      for (const timer of timers) clearTimeout(timer);
    }
  }

  endAll(): void {
    // Each takes itself off the list.
    for (const end of this.#running.values()) end();
  }

  /** Resolves when nothing runs but what is being ended. */
  async untilOnlyKilled(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => (this.#onOnlyKilled = resolve));
  }

  #forget(tag: string): boolean {
    const wasRunning = this.#running.delete(tag);
    if (this.#running.size === 0) this.#onOnlyKilled();
    return wasRunning;
  }
}
