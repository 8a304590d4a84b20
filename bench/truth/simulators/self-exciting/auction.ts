import { roughNormal } from './random.ts';
import { DRAW, type Person } from './person.ts';
import type { ChannelWorld, World } from './world.ts';

/** Highest day's index from the burn-in's first on. */
export function dayIndex(world: World, time: number): number {
  const day = Math.floor(time) + world.burn;
  return day < 0 ? 0 : day >= world.demand.length ? world.demand.length - 1 : day;
}

/** What a contact costs against the channel's usual price: the day's level and the auction's luck. */
export function contactCost(world: World, time: number, key: number): number {
  return (world.auctionPrice[dayIndex(world, time)] as number) * Math.exp(0.3 * roughNormal(key, DRAW.price));
}

/**
 * Odds that the channel wins a chance: its bid rises with the platform's noisy score of the person's propensity, the
 * day's price is set by other advertisers. `bid` multiplies the bid.
 */
export function auctionOdds(world: World, c: number, person: Person, time: number, key: number, bid: number): number {
  const channel = world.channels[c] as ChannelWorld;
  const score = channel.lookalike * Math.log(person.interest) + channel.scoreNoise * 0.5 * roughNormal(key, DRAW.score);
  const offer = bid * Math.exp(score);
  return channel.odds * Math.pow(offer / (world.auctionPrice[dayIndex(world, time)] as number), channel.elasticity);
}

/** Bid multiplier of the platform's automatic bidding when the budget changes by a factor. */
export function bidMultiplier(factor: number): number {
  return Math.pow(factor, 0.4);
}
