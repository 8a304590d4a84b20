/** Finer than that no ratio is shown; and what is divided by it stays finite. */
export const LEAST_MARGIN = 0.0001;
