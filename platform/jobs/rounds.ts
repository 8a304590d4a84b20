import { setTimeout as sleep } from 'node:timers/promises';
import type { PubSub } from '../postgres/pub-sub.ts';

/** Work in rounds, one after the other. */
export interface Rounds {
  /** The next round begins as soon as the one under way is over. */
  wake(): void;
  /** Begins no further round, and waits for the one under way. */
  close(): Promise<void>;
}

export interface RoundsOptions {
  readonly pubSub: PubSub;
  /** Any message of it wakes. */
  readonly topic: string;
  /**
   * One round. `closing` is aborted by {@link Rounds.close}. @returns for how long there is nothing more to do unless
   * somebody wakes us
   */
  readonly work: (closing: AbortSignal) => Promise<number>;
  /** Is told what a round threw; the next one begins after {@link PAUSE_MS}. */
  readonly failed: (error: unknown) => void;
}

/** The database may be away. */
const PAUSE_MS = 500;

/**
 * Works on what waits in the database: at once when there is news of it, and otherwise whenever the last round said.
 */
export function startRounds({ pubSub, topic, work, failed }: RoundsOptions): Rounds {
  const closing = new AbortController();
  const news = pubSub.subscribe(topic);
  let wake = (): void => undefined;
  const listening = (async () => {
    for await (const _ of news) wake();
  })();

  const working = (async () => {
    while (!closing.signal.aborted) {
      // News that comes during the round must not be slept through.
      const woken = new Promise<void>((resolve) => (wake = resolve));
      try {
        const idleMs = await work(closing.signal);
        const pause = new AbortController();
        await Promise.race([woken, sleep(idleMs, undefined, { signal: pause.signal }).catch(() => undefined)]);
        pause.abort();
      } catch (error) {
        failed(error);
        await sleep(PAUSE_MS);
      }
    }
  })();

  return {
    wake: () => wake(),
    async close() {
      closing.abort();
      wake();
      await news.return?.();
      await Promise.all([working, listening]);
    },
  };
}
