/** A figure of one channel with its standard error, both as parts of the revenue of the range. */
export interface Measured {
  readonly channel: string;
  readonly estimate: number;
  readonly error: number;
}

/** What was measured, or why it could not be. */
export type Measurement<Row> = readonly Row[] | { readonly reason: string };

/** What the tests of the credit rest on. Measured on a sample of people; lead tests need none. */
export interface CreditMeasurements {
  readonly ok: true;
  /** people looked at, of how many */
  readonly people: number;
  readonly ofPeople: number;
  /** what each unpaid channel would be credited with if it were paid, the others as placebos; or why it says nothing */
  readonly placebos: Measurement<Measured>;
  /** by how much what a paid channel is measured to bring moves with the horizon, and between halves of the data */
  readonly horizonHalved: Measurement<Measured>;
  readonly horizonDoubled: Measurement<Measured>;
  /** half the difference, second less first */
  readonly windowHalves: Measurement<Measured>;
  readonly overlap: Measurement<{
    readonly channel: string;
    /** who met it, and the part of them without a counterpart */
    readonly people: number;
    readonly withoutCounterpart: number;
  }>;
}
