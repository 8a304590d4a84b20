import type { ChannelKind } from './channel-kinds.ts';
import { BURN_IN_DAYS } from './model.ts';
import type { Channel } from './model.ts';
import type { Stream } from './random.ts';

/** Spread of the logarithm of what shops pay for the same: skill, agencies' terms, quality of the placements. */
const OVERPAID_SPREAD = 0.7;
/** Prices of media rise with what an order is worth, as all who sell dear goods bid for the same people. */
const PRICE_ELASTICITY = 0.6;
const USUAL_BASKET = 60;

/**
 * How a channel is paid for. It takes a stream of its own and sees the medium, the value of orders and what the shop
 * plans to sell, but neither effects nor how many people are met.
 */
export function drawDeal(
  stream: Stream,
  { perContact, perClick, commission, feeShare }: ChannelKind,
  { basket, weeklyRevenue }: { readonly basket: number; readonly weeklyRevenue: number },
  intensity: Float64Array,
): Pick<Channel, 'deal' | 'weeksOn'> {
  const level = (basket / USUAL_BASKET) ** PRICE_ELASTICITY * stream.jitter(OVERPAID_SPREAD);
  // Impressions on people whom the shop never sees: bots, other towns, the wrong age.
  const waste = stream.scaleBetween(1, 4);
  // An agency takes its part of the budget, and some shops pay it a retainer.
  const agency = 1 + stream.between(0, 0.18);
  const retainer = feeShare === 0 && commission === 0 && stream.isTrue(0.35) ? stream.scaleBetween(0.002, 0.012) : 0;
  const byClick = perContact > 0 && perClick > 0 && stream.isTrue(0.5);
  const days = intensity.subarray(BURN_IN_DAYS);
  return {
    deal: {
      perContact: byClick ? 0 : perContact * level * waste * agency,
      perClick: perContact > 0 && !byClick ? 0 : perClick * level * agency,
      commission: commission * stream.between(0.5, 1.6) + (commission > 0 ? 0.02 : 0),
      weeklyFee: (feeShare * stream.jitter(OVERPAID_SPREAD) + retainer) * weeklyRevenue,
    },
    weeksOn: Array.from({ length: Math.ceil(days.length / 7) }, (_, week) => (days[7 * week]! > 0.2 ? 1 : 0)),
  };
}
