import { FairTurns } from './fair-turns.ts';

/** How long pieces may follow one another before whatever else is ready has the thread. */
const ROUND_MS = 5;

/**
 * Brief pieces of work on the thread that answers everybody, thousands at once, such as the events of a history on
 * their way out: one after the other, by turns of tenants, and every few milliseconds the event loop goes round. A
 * piece costs next to nothing more than without turns, and a neighbour's first comes before a crowd's second.
 */
export class BriefTurns {
  readonly #turns = new FairTurns({ places: 1, perTenant: 1 });
  /** When the first piece of this round of the event loop began. */
  #roundBegunMs: number | undefined;

  /** Waits for the tenant's turn: for whatever the caller then does without waiting for anything. */
  async take(tenant: string): Promise<void> {
    const release = await this.#turns.take(tenant);
    if (this.#roundBegunMs === undefined) {
      this.#roundBegunMs = performance.now();
      setImmediate(() => (this.#roundBegunMs = undefined));
    }
    // Ticks come behind all that promises have set going by then.
    process.nextTick(() => {
      if (this.#roundBegunMs === undefined || performance.now() - this.#roundBegunMs < ROUND_MS) release();
      else setImmediate(release);
    });
  }
}
