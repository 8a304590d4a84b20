import type { ChannelCredits, PathTotals } from '../../outcome.ts';

export interface ShapleyResult extends ChannelCredits {
  readonly ok: true;
  readonly model: 'shapley';
  readonly totals: PathTotals;
  readonly warnings: readonly string[];
}
