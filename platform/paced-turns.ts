import { FairTurns } from './fair-turns.ts';

/** Longest rest behind a piece of work. */
const MAX_REST_MS = 200;

/**
 * Large pieces of work on the thread that answers everybody: one at a time, by turns of tenants, and behind each the
 * thread is everybody else's for as long as the piece took. A tenant's fifty large answers wait behind one another, and
 * what others ask meets at most one of them.
 */
export class PacedTurns {
  readonly #turns = new FairTurns({ places: 1, perTenant: 1 });

  /**
   * Waits for the tenant's turn. Whoever has it calls what this resolves with, in every case; what follows without
   * waiting for anything, such as the completion of an answer, is part of the piece.
   */
  async take(tenant: string): Promise<() => void> {
    const release = await this.#turns.take(tenant);
    const begunMs = performance.now();
    return () =>
      void setImmediate(() => {
        setTimeout(release, Math.min(MAX_REST_MS, performance.now() - begunMs)).unref();
      });
  }
}
