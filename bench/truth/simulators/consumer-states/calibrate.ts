import { runEverybody } from './engine.ts';
import type { Scales, ShopSpec } from './shop-spec.ts';
import { spendOf } from './spending.ts';
import { scenarioOf, worldOf } from './world.ts';

const PILOT_PEOPLE = 3000;
const ROUNDS = 8;
const LARGEST_STRENGTH = 6;
/** a need every 25 days; more often would leave nobody dormant whom media could awaken */
const MOST_NEED = 0.04;
const MOST_BUY = 3;

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/**
 * Finds the common scales by a pilot of fixed size (so that they don't depend on the number of people): need for
 * the drawn orders per person, strength of all media for the drawn share of revenue, that of untracked media for
 * theirs, and the level of prices for the drawn share of spend. Truth isn't forced: it is what the full run shows.
 */
export function calibrate(spec: ShopSpec): Scales {
  const scales: Scales = { need: 0.006, buy: 1, strength: spec.nothingWorks ? 1 : 0.7, untracked: 1, price: 1 };
  const paid = spec.channels.map((_, c) => c).filter((c) => spec.channels[c]!.paid);
  const untracked = paid.filter((c) => !spec.channels[c]!.tracked);
  const bits = (channels: readonly number[]): number => channels.reduce((sum, c) => sum | (1 << c), 0);
  const off = (channels: readonly number[]): Map<number, number> => new Map(channels.map((c) => [c, 0]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const world = worldOf(spec, scales);
    const branches = [paid, untracked].map((channels) => ({
      scenario: scenarioOf(world, off(channels)),
      channels: bits(channels),
    }));
    const asItIs = scenarioOf(world, new Map());
    const searched = spec.nothingWorks ? [] : branches;
    const [main, none, withoutUntracked] = runEverybody(world, PILOT_PEOPLE, asItIs, searched, null, null);
    let spend = 0;
    for (const c of paid) {
      for (let day = 0; day < spec.days; day += 1) spend += spendOf(world, asItIs, main, PILOT_PEOPLE, c, day);
    }
    const revenue = main.cents / 100;
    if (spend > 0) scales.price *= clamp((spec.targetSpendShare * revenue) / spend, 0.2, 5);
    const perPerson = Math.max(0.002, main.orders / PILOT_PEOPLE);
    const wanted = clamp(Math.pow(spec.targetOrders / perPerson, 0.9), 0.3, 3) * scales.need * scales.buy;
    scales.need = Math.min(MOST_NEED, wanted);
    scales.buy = clamp(wanted / scales.need, 1, MOST_BUY);
    if (spec.nothingWorks) continue;
    const share = Math.max(0.005, 1 - none!.cents / main.cents);
    scales.strength *= clamp(Math.pow(spec.targetShare / share, 0.8), 0.5, 2);
    scales.strength = clamp(scales.strength, 0.01, LARGEST_STRENGTH);
    if (spec.targetUntracked > 0) {
      const part = Math.max(0.005, 1 - withoutUntracked!.cents / main.cents);
      scales.untracked *= clamp(Math.pow(spec.targetUntracked / part, 0.6), 0.5, 2);
      scales.untracked = clamp(scales.untracked, 0.05, 8);
    }
  }
  return scales;
}
