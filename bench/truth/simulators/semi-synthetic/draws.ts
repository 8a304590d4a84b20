/** A sequence of draws for the parameters of one shop. */
export interface Draws {
  between(low: number, high: number): number;
  /** uniform on the log scale */
  logBetween(low: number, high: number): number;
  whole(low: number, high: number): number;
  chance(p: number): boolean;
}
