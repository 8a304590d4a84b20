/** A role that is up: what to tell the user, and how to end it. */
export interface Running {
  /** Lines for the terminal, printed once. */
  readonly welcome: readonly string[];
  /**
   * Finishes what is under way and ends everything that the role started.
   * @param announceMs how long one that faces clients goes on serving after it has said that it is ending; 0
   */
  stop(announceMs?: number): Promise<void>;
}
