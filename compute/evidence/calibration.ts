import { absorption } from './absorption.ts';
import { sumTransitions } from './transitions.ts';
import type { Transitions } from './transitions.ts';

/** Parts that journeys are dealt into; each is judged by what the others say. */
export const FOLDS = 5;
const BINS = 10;

/** Journeys with one prediction: how many, and how many of them converted. */
interface Forecast {
  readonly predicted: number;
  readonly journeys: number;
  readonly converted: number;
}

/**
 * Expected calibration error (Naeini, Cooper & Hauskrecht 2015; ten bins of equal mass) of out-of-fold absorption
 * probabilities: for each fold the chain of the other folds says, from the channel in which a journey begins, how
 * likely it converts; that is held against what the fold's journeys did. Mean over journeys of |predicted − observed|
 * of their bin, in [0, 1]. `throwIfCancelled` ends a task that was cancelled.
 */
export function calibrationError(folds: readonly Transitions[], throwIfCancelled: () => void): number {
  const size = folds[0]?.size ?? 0;
  const forecasts: Forecast[] = [];
  for (const fold of folds) {
    const others = sumTransitions(
      folds.filter((other) => other !== fold),
      size,
    );
    const learned = absorption(others, throwIfCancelled);
    const journeys = others.starts.reduce((sum, n) => sum + n, 0);
    const overall = journeys === 0 ? 0 : others.conversions.reduce((sum, n) => sum + n, 0) / journeys;
    fold.starts.forEach((n, s) => {
      // A channel in which no other fold's journey begins or passes is predicted by the rate of all.
      const known =
        learned !== null && (others.conversions[s]! > 0 || learned.conversion[s]! > 0 || others.starts[s]! > 0);
      if (n > 0)
        forecasts.push({
          predicted: known ? learned.conversion[s]! : overall,
          journeys: n,
          converted: fold.startsThatConvert[s]!,
        });
    });
  }
  return errorOfBins(forecasts.toSorted((a, b) => a.predicted - b.predicted));
}

/** Forecasts come sorted; one that reaches over the edge of a bin is divided. */
function errorOfBins(forecasts: readonly Forecast[]): number {
  const total = forecasts.reduce((sum, { journeys }) => sum + journeys, 0);
  if (total === 0) return 0;
  const capacity = total / BINS;
  let error = 0;
  let [filled, predicted, observed] = [0, 0, 0];
  const close = (): void => {
    error += Math.abs(predicted - observed) / total;
    [filled, predicted, observed] = [0, 0, 0];
  };
  for (const forecast of forecasts) {
    const rate = forecast.converted / forecast.journeys;
    for (let left = forecast.journeys; left > 0;) {
      const part = Math.min(left, capacity - filled);
      filled += part;
      predicted += part * forecast.predicted;
      observed += part * rate;
      left -= part;
      if (filled >= capacity * (1 - 1e-9)) close();
    }
  }
  close();
  return Math.min(1, error);
}
