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
}
