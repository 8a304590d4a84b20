import type { Plan } from '../simulator.ts';
import { bidMultiplier } from './auction.ts';
import type { Market } from './market.ts';
import type { World } from './world.ts';

/** A plan in the form that the event loop reads. */
export interface CompiledPlan {
  /** bit of each channel that is off from the window's first day */
  readonly off: number;
  /** part of chances won, in the burn-in and in the window; bids of prospecting at auction */
  readonly reachBefore: Float64Array;
  readonly reach: Float64Array;
  readonly bid: Float64Array;
  readonly cutoff: readonly Float64Array[];
  /** brings what contacts cost to the factor on spend: more of a channel is dearer by the contact */
  readonly spendScale: Float64Array;
  /** bit of each channel that is held out */
  readonly holdChannels: number;
  readonly holdShare: number;
  readonly holdFrom: number;
  readonly holdTo: number;
}

/** Part of chances that are won at a factor on spend: a saturating response with constant elasticity of the odds. */
export function winProbability(odds: number, elasticity: number, factor: number): number {
  if (factor <= 0) return 0;
  const scaled = odds * Math.pow(factor, elasticity);
  return scaled / (1 + scaled);
}

export function compilePlan(world: World, plan: Plan, market: Market | undefined): CompiledPlan {
  const count = world.channels.length;
  const reachBefore = new Float64Array(count);
  const reach = new Float64Array(count);
  const bid = new Float64Array(count).fill(1);
  const spendScale = new Float64Array(count).fill(1);
  const cutoff = [...world.cutoff];
  let off = 0;
  world.channels.forEach((channel, c) => {
    const factor = channel.kind === 'unpaid' ? 1 : (plan.spend?.[channel.name] ?? 1);
    const unchanged = factor === 1 || factor <= 0;
    reachBefore[c] = winProbability(channel.odds, channel.elasticity, 1);
    reach[c] = winProbability(channel.odds, channel.elasticity, unchanged ? 1 : factor);
    if (factor <= 0) off |= 1 << c;
    if (unchanged) return;
    if (channel.kind === 'prospecting' && market !== undefined) {
      bid[c] = bidMultiplier(factor);
      const changed = market.auction(c, factor);
      cutoff[c] = changed.cutoff;
      spendScale[c] = (factor * market.auction(c, 1).spend) / changed.spend;
    } else {
      spendScale[c] = (factor * (reachBefore[c] as number)) / (reach[c] as number);
    }
  });
  const held = plan.holdout;
  return {
    off,
    reachBefore,
    reach,
    bid,
    cutoff,
    spendScale,
    holdChannels: world.channels.reduce(
      (bits, { name }, c) => (held?.channels.includes(name) ? bits | (1 << c) : bits),
      0,
    ),
    holdShare: held?.share ?? 0,
    holdFrom: held?.fromDay ?? 0,
    holdTo: held?.toDay ?? 0,
  };
}
