import { auctionOdds, bidMultiplier, contactCost } from './auction.ts';
import { childKey, uniform } from './random.ts';
import { DRAW, Person, type ChanceSink } from './person.ts';
import { drawEpisodes, intentChances } from './immigrants.ts';
import type { ChannelWorld, World } from './world.ts';

/** People of the market by which budgets and prices are set; the shop's own people are others of the same kind. */
export const MARKET_PEOPLE = 8000;
/** Where their indices begin. */
export const MARKET_FROM = 1 << 26;

const SLOTS = 48;

/** Costs by day and half-hour, of one channel. */
export class CostHistogram {
  readonly costs: Float64Array;
  private readonly burn: number;

  constructor(world: World) {
    this.burn = world.burn;
    this.costs = new Float64Array((world.days + world.burn) * SLOTS);
  }

  add(time: number, cost: number): void {
    const at = Math.floor((time + this.burn) * SLOTS);
    if (at >= 0 && at < this.costs.length) this.costs[at] = (this.costs[at] as number) + cost;
  }

  /** Part of each day after which `budget` of that day is gone. */
  cutoffs(budgets: Float64Array): { cutoff: Float64Array; spend: number } {
    const cutoff = new Float64Array(budgets.length).fill(1);
    let spend = 0;
    for (let d = 0; d < budgets.length; d++) {
      let left = budgets[d] as number;
      for (let s = 0; s < SLOTS; s++) {
        const cost = this.costs[d * SLOTS + s] as number;
        if (cost > left) {
          cutoff[d] = (s + left / cost) / SLOTS;
          left = 0;
          break;
        }
        left -= cost;
      }
      if (d >= this.burn) spend += (budgets[d] as number) - left;
    }
    return { cutoff, spend };
  }
}

/** Daily budgets of a channel from what all its chances would cost: a level, demand as planned for, planners' noise. */
export function dailyBudgets(world: World, channel: ChannelWorld, c: number, histogram: CostHistogram): Float64Array {
  const budgets = new Float64Array(world.demand.length);
  const all = histogram.costs.reduce((a, b) => a + b, 0) / budgets.length;
  const demand = world.demand.reduce((a, b) => a + b, 0) / budgets.length;
  for (let d = 0; d < budgets.length; d++) {
    const noise = 0.85 + 0.3 * uniform(childKey(world.seed, 77 + c), d);
    const expected = Math.pow((world.demand[d] as number) / demand, channel.budgetDemand);
    budgets[d] = all * channel.budgetRatio * expected * noise;
  }
  return budgets;
}

interface Auction {
  readonly cutoff: Float64Array;
  readonly spend: number;
}

/** Runs the prospecting channels' auctions over the market's people, to find when each day's budget is gone. */
export class Market implements ChanceSink {
  private readonly world: World;
  private readonly person: Person;
  private readonly results = new Map<string, Auction>();
  private readonly budgets = new Map<number, Float64Array>();
  private histogram: CostHistogram;
  private channel = 0;
  private bid = 1;

  constructor(world: World) {
    this.world = world;
    this.person = new Person(world);
    this.histogram = new CostHistogram(world);
  }

  /** The auction of channel `c` when its spend is multiplied by `factor`. */
  auction(c: number, factor: number): Auction {
    const name = `${c} ${factor}`;
    const known = this.results.get(name);
    if (known !== undefined) return known;
    if (factor !== 1) this.auction(c, 1);
    this.enumerate(c, factor === 1 ? 1 : bidMultiplier(factor));
    const channel = this.world.channels[c] as ChannelWorld;
    const usual = this.budgets.get(c) ?? dailyBudgets(this.world, channel, c, this.histogram);
    this.budgets.set(c, usual);
    const burn = this.world.burn;
    const result = this.histogram.cutoffs(usual.map((budget, d) => (d < burn ? budget : budget * factor)));
    if (factor !== 1) result.cutoff.set(this.auction(c, 1).cutoff.subarray(0, burn));
    this.results.set(name, result);
    return result;
  }

  chance(time: number, key: number): void {
    const odds = auctionOdds(this.world, this.channel, this.person, time, key, this.bid);
    if (uniform(key, DRAW.win) * (1 + odds) < odds) this.histogram.add(time, contactCost(this.world, time, key));
  }

  private enumerate(c: number, bid: number): void {
    const { world, person } = this;
    const channel = world.channels[c] as ChannelWorld;
    this.histogram = new CostHistogram(world);
    this.channel = c;
    this.bid = bid;
    for (let i = 0; i < MARKET_PEOPLE; i++) {
      person.draw(MARKET_FROM + i);
      if (channel.intentRate > 0) drawEpisodes(world, person);
      person.process(childKey(person.key, 100 + c), channel.rate, this);
      if (channel.intentRate > 0) intentChances(world, person, c, this);
    }
  }
}
