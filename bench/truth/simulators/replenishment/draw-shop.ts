import type { Trait } from '../simulator.ts';
import { drawDemand, drawPeaks, mondayFrom } from './calendar.ts';
import { drawChannels } from './draw-channels.ts';
import type { Good, Shop } from './model.ts';
import { keyOf, Stream } from './random.ts';
import { shopPlan } from './shop-plans.ts';
import type { ShopPlan } from './shop-plans.ts';

const SEED = 20_817;

function drawGoods(stream: Stream, { goods, traits }: ShopPlan): Good[] {
  const think = traits.has('short_horizon') ? 0.3 : traits.has('long_horizon') ? 2.5 : 1;
  const consumable = (): Good => ({
    users: stream.between(0.25, 0.6),
    cycleDays: stream.scaleBetween(20, 70),
    cycleSpread: stream.between(0.3, 0.5),
    deliberationDays: stream.between(0.4, 2) * think,
    price: stream.scaleBetween(22, 60),
    priceSpread: stream.between(0.2, 0.45),
    isGift: false,
  });
  const wearing = (): Good => ({
    users: stream.between(0.4, 0.8),
    cycleDays: stream.scaleBetween(90, 220),
    cycleSpread: stream.between(0.4, 0.7),
    deliberationDays: stream.between(1, 5) * think,
    price: stream.scaleBetween(35, 110),
    priceSpread: stream.between(0.3, 0.55),
    isGift: false,
  });
  const durable = (): Good => ({
    users: stream.between(0.7, 0.95),
    cycleDays: stream.scaleBetween(350, 1100),
    cycleSpread: stream.between(0.4, 0.6),
    deliberationDays: stream.between(4, 9) * think,
    price: stream.scaleBetween(90, 320),
    priceSpread: stream.between(0.3, 0.6),
    isGift: false,
  });
  const gift = (): Good => ({
    users: stream.between(0.4, 0.8),
    cycleDays: stream.scaleBetween(90, 250),
    cycleSpread: 0.3,
    deliberationDays: stream.between(1, 4) * think,
    price: stream.scaleBetween(25, 70),
    priceSpread: stream.between(0.3, 0.5),
    isGift: true,
  });
  if (goods === 'consumables') return [consumable(), ...(stream.isTrue(0.6) ? [consumable()] : [])];
  if (goods === 'durables') return [durable(), ...(stream.isTrue(0.7) ? [wearing()] : [])];
  if (goods === 'gifts') return [gift(), wearing()];
  return [consumable(), wearing(), ...(stream.isTrue(0.5) ? [gift()] : [])];
}

/** What an order is worth on average, and how many orders of the market a person places in a day. */
function marketOf(goods: readonly Good[]): { basket: number; ordersPerDay: number } {
  const ordersPerDay = goods.reduce((sum, { users, cycleDays }) => sum + users / cycleDays, 0);
  const value = goods.reduce((sum, { users, cycleDays, price }) => sum + (users / cycleDays) * price, 0);
  return { basket: value / ordersPerDay, ordersPerDay };
}

/** The shop's own traits, and those that its channels bring. */
function traitsOf(plan: ShopPlan, channels: Shop['channels']): Trait[] {
  const isOfChannels = (trait: Trait): boolean => channels.some(({ traits }) => traits.includes(trait));
  const brought: readonly Trait[] = ['reactive_targeting', 'navigational_clicks'];
  // What was planned for channels counts where the draw gave it to one.
  const needed: ReadonlySet<Trait> = new Set<Trait>([
    'harm',
    'synergy',
    'untracked_spend',
    'budget_follows_demand',
    'halo_visits',
  ]);
  return [
    ...[...plan.traits].filter((trait) => !needed.has(trait) || isOfChannels(trait)),
    ...brought.filter(isOfChannels),
  ];
}

/** The shop `index` of 1 … 24, without what a pilot has to find. */
export function drawShop(index: number): Shop {
  const plan = shopPlan(index);
  const has = (trait: Trait): boolean => plan.traits.has(trait);
  const seed = keyOf(SEED, index);
  const stream = new Stream(seed);
  const days = 7 * Math.round(stream.between(has('long_horizon') ? 17 : 13, 21));
  const startS = mondayFrom(plan.startDay);
  const goods = drawGoods(stream, plan);
  const { basket, ordersPerDay } = marketOf(goods);
  const wanted = has('sparse_orders') ? stream.between(0.011, 0.016) : stream.scaleBetween(0.022, 0.075);
  // No shop here has more than a sixth of its market.
  const ordersPerPerson = Math.min(wanted, (days * ordersPerDay) / 6);
  const peaks = drawPeaks(stream, startS, days, has('promotions'));
  const demand = drawDemand(stream, days, peaks);
  const weeklyRevenue = (7 * ordersPerPerson * basket) / days;
  const channels = drawChannels(stream, { plan, days, demand, basket, weeklyRevenue });
  return {
    name: `replenishment_${index}`,
    seed,
    days,
    startS,
    traits: traitsOf(plan, channels),
    channels,
    goods,
    peaks,
    demand,
    worksAtAll: !has('nothing_works'),
    aim: {
      ordersPerPerson,
      incremental: stream.scaleBetween(0.08, 0.42),
      marketing: stream.scaleBetween(0.08, 0.4),
    },
    weeklyRevenue,
    known: stream.between(0.1, 0.4),
    customers: stream.between(0.06, 0.25),
    tasteSpread: stream.between(0.5, 1.1),
    // Whom advertising has won comes back; where effects are to be short, hardly.
    loyalty: has('short_horizon') ? stream.between(0, 0.3) : stream.between(0.8, 2),
    priceSensitivity: stream.between(1.5, 3.5),
    wordOfMouth: stream.isTrue(0.5) ? stream.between(0.02, 0.1) : 0,
    couponSeekers: stream.between(0.08, 0.25),
    brandSearchers: stream.between(0.2, 0.5),
    visitsPerDay: stream.between(0.001, 0.006),
    opensMail: stream.between(0.1, 0.3),
    joinsList: stream.between(0.4, 0.8),
    severalIds: has('ids_split') ? stream.between(0.25, 0.6) : 0,
    refusesTracking: has('touches_lost') ? stream.between(0.05, 0.25) : 0,
  };
}
