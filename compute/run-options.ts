/** Window and parameters of one run. Times are seconds since the epoch, durations seconds. */
export interface RunOptions {
  readonly rangeStartS: number;
  /** exclusive */
  readonly rangeEndS: number;
  readonly lookbackS: number;
  /** time of the last stored event of the source */
  readonly observedUntilS: number;
  /** per channel of the event table: 1 = baseline (unpaid), 0 = paid */
  readonly isBaseline: Uint8Array;
  /** between 0 and 1, exclusive */
  readonly confidenceLevel: number;
  /** PRAV: how long after a touch its user's conversions count */
  readonly horizonS: number;
  /** PRAV: unpaid visits sooner after a touch than this belong to the same session */
  readonly gapS: number;
  /** PRAV: how long after the gap unpaid visits count as placebos */
  readonly placeboWindowS: number;
  /** PRAV: groups of users in the delete-a-group jackknife */
  readonly groups: number;
  /** 1 to 4 */
  readonly markovOrder: number;
}

/** Seconds of a day. */
export const DAY_S = 86_400;

/** The parameters that a caller usually leaves alone. */
export const DEFAULT_RUN_PARAMETERS = {
  lookbackS: 30 * DAY_S,
  confidenceLevel: 0.95,
  horizonS: 14 * DAY_S,
  gapS: 1_800,
  placeboWindowS: 7 * DAY_S,
  groups: 50,
  markovOrder: 1,
} as const satisfies Partial<RunOptions>;
