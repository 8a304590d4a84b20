import { Engine } from './engine.ts';
import { CostHistogram, dailyBudgets, Market, MARKET_FROM, MARKET_PEOPLE } from './market.ts';
import { compilePlan } from './plan.ts';
import { Arrivals, runUntil } from './process.ts';
import { childKey, ParameterSource } from './random.ts';
import type { ChannelWorld, World } from './world.ts';

const TRIAL_PEOPLE = 6000;
/** A channel that is run at all has at least this part of spend; all together return at most so many times it. */
const LEAST_PART = 0.015;
const MOST_RETURN = 5;

/** What a trial on the market's people came to. */
interface Trial {
  orders: number;
  cents: number;
  ordersWithout: number;
  centsWithout: number;
  readonly spend: Float64Array;
  /** per channel: cents lost when it alone is off */
  readonly lost: Float64Array;
  readonly costs: readonly (CostHistogram | undefined)[];
}

interface TrialSetting {
  readonly people: number;
  readonly perChannel: boolean;
  /** lists' ads without limit of budget, to see what all of them would cost */
  readonly freeLists: boolean;
}

function trial(world: World, market: Market, setting: TrialSetting): Trial {
  setAuctionCutoffs(world, market);
  const engine = new Engine(world, compilePlan(world, {}, undefined));
  const arrivals = new Arrivals(engine);
  const paid = world.channels.map((channel, c) => (channel.kind === 'unpaid' ? 0 : 1 << c)).reduce((a, b) => a | b, 0);
  const costs = world.channels.map((channel) =>
    channel.kind === 'retargeting' ? new CostHistogram(world) : undefined,
  );
  const spend = new Float64Array(world.channels.length * world.days);
  const lost = new Float64Array(world.channels.length);
  const result: Trial = { orders: 0, cents: 0, ordersWithout: 0, centsWithout: 0, spend, lost, costs };
  for (let i = 0; i < setting.people; i++) {
    engine.spend = spend;
    engine.costs = setting.freeLists ? costs : undefined;
    engine.begin(MARKET_FROM + i);
    arrivals.queueAll();
    runUntil(engine, 0);
    engine.save();
    runUntil(engine, world.days);
    const { orders, cents, met } = engine;
    result.orders += orders;
    result.cents += cents;
    engine.spend = undefined;
    engine.costs = undefined;
    for (let c = 0; setting.perChannel && c < world.channels.length; c++) {
      if (((met >> c) & 1) === 0) continue;
      engine.restore(1 << c);
      runUntil(engine, world.days);
      lost[c] = (lost[c] as number) + cents - engine.cents;
    }
    if (met !== 0) {
      engine.restore(paid);
      runUntil(engine, world.days);
    }
    result.ordersWithout += engine.orders;
    result.centsWithout += engine.cents;
  }
  return result;
}

/** Days' budgets of prospecting run out when the market's people have used them up. */
function setAuctionCutoffs(world: World, market: Market): void {
  world.channels.forEach((channel, c) => {
    if (channel.kind === 'prospecting') world.cutoff[c] = market.auction(c, 1).cutoff;
  });
}

function setListCutoffs(world: World, costs: Trial['costs']): void {
  world.channels.forEach((channel, c) => {
    const histogram = costs[c];
    if (histogram === undefined) return;
    world.cutoff[c] = histogram.cutoffs(dailyBudgets(world, channel, c, histogram)).cutoff;
  });
}

/**
 * Sets a drawn shop's scales so that orders per person, marketing's part of them and spend come out about as drawn, on
 * people of the same kind as the shop's own. Returns the market, for auctions under other plans.
 */
export function calibrate(world: World): Market {
  const people = TRIAL_PEOPLE;
  const nothing = world.traits.includes('nothing_works');
  for (let round = 0; round < (nothing ? 3 : 6); round++) {
    const now = trial(world, new Market(world), { people, perChannel: false, freeLists: round < 2 });
    if (round < 2) setListCutoffs(world, now.costs);
    const wantedBase = world.targetOrders * (1 - world.targetShare) * people;
    world.baseScale *= clamp(wantedBase / Math.max(1, now.ordersWithout), 0.3, 3);
    if (nothing) continue;
    const gained = Math.max(1, now.orders - now.ordersWithout);
    const wantedOdds = world.targetShare / (1 - world.targetShare);
    const odds = gained / Math.max(1, now.ordersWithout);
    world.effectScale = clamp(world.effectScale * clamp(Math.pow(wantedOdds / odds, 0.9), 0.25, 4), 0.05, 25);
  }
  const market = new Market(world);
  const last = trial(world, market, { people: MARKET_PEOPLE, perChannel: true, freeLists: false });
  setPrices(world, last);
  return market;
}

/**
 * Prices of contacts: shops spend partly as prices of the kind would have it, partly where they have learnt that it
 * pays, with error; so that returns differ by channel but seldom absurdly.
 */
function setPrices(world: World, seen: Trial): void {
  const from = new ParameterSource(childKey(world.seed, 55));
  const spends = world.channels.map((_, c) => seen.spend.subarray(c * world.days, (c + 1) * world.days));
  const usual = spends.map((days) => days.reduce((a, b) => a + b, 0));
  const usualTotal = usual.reduce((a, b) => a + b, 0);
  const lostTotal = seen.lost.reduce((a, b) => a + Math.max(0, b), 0);
  const wanted = usual.map((amount, c) => {
    const luck = Math.exp(0.35 * from.normal());
    const harmful = world.channels[c]?.traits.includes('harm') ?? false;
    // harm looks like success to those who count its clicks
    const learnt = harmful ? 0.12 : lostTotal > 0 ? Math.max(0, seen.lost[c] as number) / lostTotal : 0;
    // mails stay cheap however well they do
    const mail = ['newsletter', 'cartMail'].includes((world.channels[c] as ChannelWorld).kind);
    const weight = lostTotal > 0 ? (mail ? 0.45 : 0.3) : 1;
    return amount > 0 ? luck * Math.max(LEAST_PART, (weight * amount) / usualTotal + (1 - weight) * learnt) : 0;
  });
  const wantedTotal = wanted.reduce((a, b) => a + b, 0);
  const budget = Math.max(world.targetSpend * seen.cents, lostTotal / MOST_RETURN) / 100;
  wanted.forEach((part, c) => {
    const channel = world.channels[c] as ChannelWorld;
    if (part > 0) channel.price *= ((part / wantedTotal) * budget) / (usual[c] as number);
  });
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
