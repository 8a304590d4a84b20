import type { Checkpoint } from '../../outcome.ts';

/** What a chain says about its channels. */
export interface RemovalEffects {
  readonly states: number;
  /** P and E with every channel in place */
  readonly probability: number;
  readonly expectedValue: number;
  /** per channel, P − P without it, and E − E without it */
  readonly lost: Float64Array;
  readonly lostValue: Float64Array;
  readonly iterations: number;
  readonly converged: boolean;
  /** Writes the states that path p goes through into `into`, consecutive equal ones once; returns how many. */
  readonly statesOf: (p: number, into: Int32Array) => number;
  /** What moves the effects, for their standard errors; null where that is too much to hold. */
  readonly chainsWithout: (outcome: Outcome, checkpoint: Checkpoint) => ChainsWithout | null;
}

/** A journey is worth 1 where it converts, or its revenue. */
export type Outcome = 'conversion' | 'value';

/** The chains with one channel removed, states × K, row-major; 0 where the state contains the removed channel. */
export interface ChainsWithout {
  /** expected outcome of a journey that stands in the state */
  readonly hope: Float64Array;
  /** visits of the state, as a part of those with every channel in place */
  readonly passage: Float64Array;
}
