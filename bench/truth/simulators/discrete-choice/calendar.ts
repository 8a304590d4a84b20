import type { ShopModel } from './model.ts';
import { branch, normal, uniform } from './random.ts';

/** What the days bring, the same in every run. Days are counted from the burn-in's first (`at` = day + burn-in). */
export interface Calendar {
  readonly total: number;
  /** factor on the hazard of needs, without the shop's promotions */
  readonly need: Float64Array;
  /** depth of the shop's price cut, 0 = none */
  readonly promotion: Float64Array;
  /** per day and rival */
  readonly rivalPrice: Float64Array;
  /** per day and good: 1 = in stock */
  readonly inStock: Uint8Array;
  /** per channel and day: spend relative to the channel's usual, by plan of the shop */
  readonly budget: Float64Array;
  /** 1 on days on which the shop writes to its customers */
  readonly mailing: Uint8Array;
  /** per channel and day: noise of prices in auctions */
  readonly priceNoise: Float64Array;
}

const WEEKDAY_NEED = [1.12, 1.04, 0.98, 0.97, 0.95, 0.92, 1.02]; // Sunday first
const MAIL_DAYS = [4, 2, 0];

function weekday(shop: ShopModel, at: number): number {
  return (Math.floor(shop.startS / 86400) + 4 + at - shop.burnInDays + 7000) % 7;
}

function drawPromotions(shop: ShopModel, total: number): Float64Array {
  const depth = new Float64Array(total);
  const key = branch(shop.seed, 11);
  // one promotion in each equal part of the window, and as many in the burn-in as its length asks
  const span = shop.days / Math.max(1, shop.promotionCount);
  for (let at = 0, n = 0; shop.promotionCount > 0 && at < total; at += span, n++) {
    const start = Math.floor(at + uniform(key, 3 * n) * span * 0.6);
    const length = 2 + Math.floor(uniform(key, 3 * n + 1) * 6);
    const cut = 0.1 + 0.2 * uniform(key, 3 * n + 2);
    for (let day = start; day < Math.min(total, start + length); day++) depth[day] = cut;
  }
  return depth;
}

/** Draws the calendar of a shop: season, weekdays, shocks, promotions, stock-outs, rivals' prices, budgets. */
export function drawCalendar(shop: ShopModel): Calendar {
  const total = shop.burnInDays + shop.days;
  const key = branch(shop.seed, 12);
  const need = new Float64Array(total);
  const promotion = drawPromotions(shop, total);
  const rivalPrice = new Float64Array(total * shop.rivals.length);
  const inStock = new Uint8Array(total * shop.goods.length);
  const budget = new Float64Array(total * shop.channels.length);
  const priceNoise = new Float64Array(total * shop.channels.length);
  const mailing = new Uint8Array(total);
  let shock = 0;
  const demand = new Float64Array(total);
  for (let at = 0; at < total; at++) {
    shock = 0.9 * shock + shop.demandShockSd * Math.sqrt(1 - 0.81) * normal(key, at);
    const season = 1 + shop.seasonAmplitude * Math.sin((2 * Math.PI * (at + shop.seasonPhase)) / 365);
    need[at] = season * Math.exp(shock) * (WEEKDAY_NEED[weekday(shop, at)] ?? 1);
    demand[at] = season * Math.exp(shock) * (1 + 2.5 * (promotion[at] ?? 0));
    const mail = MAIL_DAYS.indexOf(weekday(shop, at));
    mailing[at] = (mail >= 0 && mail < shop.mailsPerWeek) || (promotion[at] ?? 0) > 0 ? 1 : 0;
    const week = Math.floor(at / 7);
    shop.rivals.forEach((rival, r) => {
      const cut = uniform(branch(key, 1000 + r), week) < rival.promotionShare ? 0.1 + 0.15 * rival.promotionShare : 0;
      rivalPrice[at * shop.rivals.length + r] = rival.price * (1 - cut) * (1 + 0.02 * normal(key, 5000 + week * 8 + r));
    });
    shop.goods.forEach((_, g) => {
      const out = uniform(branch(key, 2000 + g), Math.floor((at + 3 * g) / 6)) < shop.stockOutRate;
      inStock[at * shop.goods.length + g] = out ? 0 : 1;
    });
  }
  const meanDemand = demand.reduce((sum, value) => sum + value, 0) / total;
  shop.channels.forEach((channel, c) => {
    const own = branch(key, 3000 + c);
    let drift = 0;
    const flightDays = 14 + Math.floor(uniform(own, 999983) * 10);
    const shift = Math.floor(uniform(own, 999979) * flightDays);
    let mean = 0;
    for (let at = 0; at < total; at++) {
      drift = 0.93 * drift + 0.22 * Math.sqrt(1 - 0.8649) * normal(own, at);
      const onAir = ((at + shift) % flightDays) / flightDays < channel.onAir ? 1 : 0;
      const level = onAir * Math.exp(drift) * ((demand[at] ?? 1) / meanDemand) ** channel.followsDemand;
      budget[c * total + at] = level;
      mean += level / total;
      priceNoise[c * total + at] = Math.exp(0.06 * normal(own, 50000 + at));
    }
    for (let at = 0; at < total; at++) budget[c * total + at] = (budget[c * total + at] ?? 0) / mean;
  });
  return { total, need, promotion, rivalPrice, inStock, budget, mailing, priceNoise };
}

/** Reach at spend x relative to the usual: m(x) = x (1 + k) / (x + k), diminishing (Michaelis and Menten's form). */
export function reachAt(relativeSpend: number, halfSaturation: number): number {
  return (relativeSpend * (1 + halfSaturation)) / (relativeSpend + halfSaturation);
}
