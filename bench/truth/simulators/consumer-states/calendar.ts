import { lognormal, mix, normal } from './random.ts';
import type { ShopSpec } from './shop-spec.ts';

const DAY_OF_WEEK: readonly number[] = [1.03, 0.98, 0.97, 0.99, 0.96, 0.98, 1.09];

/** What is the same for all people on a day; index: day + burn-in. */
export interface Calendar {
  readonly demand: Float64Array;
  readonly cut: Float64Array;
  /** factor on purchase and need hazards through the price */
  readonly priceEffect: Float64Array;
  /** per channel and day, mean about 1: flights, budgets after demand and promotions, weekly pacing */
  readonly reach: Float64Array;
  /** per channel and day: auction prices */
  readonly priceLevel: Float64Array;
}

/**
 * Seasons, autoregressive demand shocks by the week, promotions, and media plans that follow them. Budgets react
 * to demand of the week before (what a team sees in its reports), thus to something that also moves orders.
 */
export function drawCalendar(spec: ShopSpec): Calendar {
  const total = spec.burnInDays + spec.days;
  const key = mix(spec.seed, 11);
  const demand = new Float64Array(total);
  const cut = new Float64Array(total);
  const priceEffect = new Float64Array(total).fill(1);
  const smooth = new Float64Array(total);
  const phase = (spec.index * 0.37) % 1;
  let shock = 0;
  for (let t = 0; t < total; t += 1) {
    if (t % 7 === 0) shock = 0.7 * shock + spec.demandNoise * normal(key, Math.floor(t / 7));
    const season = spec.seasonAmplitude * Math.sin(2 * Math.PI * (t / 180 + phase));
    smooth[t] = Math.exp(season + shock);
    demand[t] = smooth[t]! * DAY_OF_WEEK[(t - spec.burnInDays + 7 * 52) % 7]!;
  }
  for (const promotion of spec.promotions) {
    for (let day = promotion.from; day < promotion.to; day += 1) {
      const t = day + spec.burnInDays;
      if (t < 0 || t >= total) continue;
      cut[t] = promotion.cut;
      priceEffect[t] = Math.exp(spec.priceElasticity * promotion.cut);
    }
  }
  const reach = new Float64Array(spec.channels.length * total);
  const priceLevel = new Float64Array(spec.channels.length * total);
  spec.channels.forEach((channel, c) => {
    const channelKey = mix(key, 100 + c);
    const period = channel.flightOn + channel.flightOff;
    const offset = (mix(channelKey, 5) >>> 0) % period;
    for (let t = 0; t < total; t += 1) {
      const week = Math.floor(t / 7);
      const on = (t + offset) % period < channel.flightOn;
      const lagged = smooth[Math.max(0, t - 7)]!;
      const pacing = lognormal(channelKey, 100 + week, 0.2) * lognormal(channelKey, 1000 + t, 0.12);
      const flight = channel.flightOff === 0 ? 1 : on ? period / channel.flightOn : 0;
      const promotion = cut[t]! > 0 ? channel.promotionLift : 1;
      reach[c * total + t] = flight * Math.pow(lagged, channel.followDemand) * promotion * pacing;
      priceLevel[c * total + t] = lognormal(channelKey, 5000 + t, 0.08) * Math.pow(lagged, 0.3);
    }
  });
  return { demand, cut, priceEffect, reach, priceLevel };
}
