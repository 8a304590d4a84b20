import { drawShop } from './draw-shop.ts';
import { Journey } from './journey.ts';
import { Person } from './person.ts';
import { PersonRecord } from './record.ts';
import { compilePlan, worldOf } from './world.ts';
import type { ShopSpec } from './draw-shop.ts';
import type { World } from './world.ts';

const PILOT_PEOPLE = 4000;
/** numbers far from those of the shop's own people */
const PILOT_FROM = 4_000_000;
const ROUNDS = 8;

interface Pilot {
  readonly orders: number;
  readonly revenue: number;
  /** units charged in the window, per channel (commission: the sum of the orders) */
  readonly units: Float64Array;
}

function pilot(world: World, isOff: boolean): Pilot {
  const { spec } = world;
  const spend = Object.fromEntries(spec.channels.map((c) => [c.name, isOff ? 0 : 1]));
  const plan = compilePlan(spec, { spend });
  const record = new PersonRecord(spec.channels.length, world.span);
  const journey = new Journey(world, new Person(world), plan, record);
  let orders = 0;
  let cents = 0;
  for (let n = 0; n < PILOT_PEOPLE; n += 1) {
    journey.run(PILOT_FROM + n);
    orders += record.orders;
    cents += record.cents;
  }
  const units = Float64Array.from(spec.channels, (_, c) => {
    let sum = 0;
    for (let day = spec.burnIn; day < world.span; day += 1) sum += record.spend[c * world.span + day]!;
    return sum;
  });
  return { orders, revenue: cents / 100, units };
}

/** Prices per unit that spread the budget; commission is what it is. */
function pricesOf(spec: ShopSpec, { revenue, units }: Pilot): Float64Array {
  let commission = 0;
  let shares = 0;
  spec.channels.forEach((c, k) => {
    if (c.pricing === 'commission') commission += c.price * units[k]!;
    else if (c.kind !== 'unpaid') shares += c.price;
  });
  const budget = Math.max(0.4 * spec.spendShare * revenue, spec.spendShare * revenue - commission);
  return Float64Array.from(spec.channels, (c, k) => {
    if (c.pricing === 'commission' || c.kind === 'unpaid') return c.price;
    return (budget * c.price) / shares / Math.max(20, units[k]!);
  });
}

const known = new Map<number, World>();

/**
 * The world of a shop: log odds and scale of the effects are moved until a pilot of other people meets the shop's aims
 * for orders per person and for the part of revenue that advertising causes.
 */
export function calibrated(index: number): World {
  const found = known.get(index);
  if (found) return found;
  const spec = drawShop(index);
  const ones = new Float64Array(spec.channels.length).fill(1);
  const aim = spec.incrementalShare;
  let baseline = -3;
  let scale = aim > 0 ? 1 : 0;
  let asIs: Pilot = { orders: 0, revenue: 0, units: ones };
  for (let round = 0; round < ROUNDS; round += 1) {
    const world = worldOf(spec, baseline, scale, ones);
    asIs = pilot(world, false);
    if (round === ROUNDS - 1) break;
    baseline += 0.9 * Math.log((spec.ordersPerPerson * PILOT_PEOPLE) / Math.max(1, asIs.orders));
    baseline = Math.min(1, Math.max(-8, baseline));
    if (aim === 0) continue;
    const share = 1 - pilot(world, true).revenue / Math.max(1, asIs.revenue);
    scale = Math.min(6, Math.max(0.05, scale * Math.min(2, Math.max(0.5, aim / Math.max(0.01, share))) ** 0.8));
  }
  const world = worldOf(spec, baseline, scale, pricesOf(spec, asIs));
  known.set(index, world);
  return world;
}
