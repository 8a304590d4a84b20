import type { ChannelCredits, PathTotals } from '../../outcome.ts';
import type { CreditIntervals } from '../credit-intervals.ts';

/** Credit of the Shapley value, which is exact for any number of channels. */
export interface ShapleyResult extends ChannelCredits, CreditIntervals {
  readonly ok: true;
  readonly model: 'shapley';
  readonly totals: PathTotals;
  readonly warnings: readonly string[];
}
