import { NEED, NOT_BOUGHT, FIRST_RIVAL, awarenessTerm, choose, comesToMind, orderCents } from './choice.ts';
import { DAILY, lifeEvent, navigationalDoor, visitBy } from './contacts.ts';
import type { Day } from './contacts.ts';
import { OURS } from './person.ts';
import type { Person, State } from './person.ts';
import { branch, uniform } from './random.ts';
import type { Recorder } from './recorder.ts';
import type { World } from './world.ts';

/** Sums over people; the arm's are of the days of a holdout. */
export interface Tally {
  orders: number;
  cents: number;
  armFrom: number;
  armTo: number;
  armOrders: number;
  armCents: number;
}

/** Key of the draws that belong to a need, by the day on which it came up. */
export function needKeyOf(person: Person, needAt: number): number {
  return branch(person.key, 500000 + needAt);
}

/** Does a need come up today? A renewal process with Weibull hazard since the last purchase, from whichever shop. */
export function needArises(world: World, person: Person, state: State, day: Day): boolean {
  const { shop, table, calendar } = world;
  const spell = Math.min(3, state.sincePurchase / person.needInterval);
  let hazard = (shop.needShape / person.needInterval) * spell ** (shop.needShape - 1) * (calendar.need[day.at] ?? 1);
  if (lifeEvent(world, person, day.at)) hazard *= shop.lifeEventFactor;
  const promotion = calendar.promotion[day.at] ?? 0;
  // price cuts bring purchases forward among those who know the shop
  if (promotion > 0 && (state.lastShop === OURS || state.onList)) hazard *= 1 + 5 * shop.promotionPull * promotion;
  let stimulus = 0;
  for (const c of table.contact) {
    const stock = state.fresh[c] ?? 0;
    if (stock > 0.01) stimulus += ((table.needStimulus[c] ?? 0) * stock) / (1 + stock);
  }
  return uniform(day.key, DAILY.need) < hazard * (1 + person.response * stimulus);
}

/** A search of the category: the first ad that is clicked, else perhaps the shop's free result. */
export function searchCategory(
  world: World,
  state: State,
  day: Day,
  reach: Float64Array,
  recorder: Recorder | null,
  awareness: number,
): void {
  const { shop, table, calendar } = world;
  const { at, key } = day;
  const recognition = 1 + shop.recognitionBoost * Math.min(2, Math.max(0, awareness));
  let missed = -1;
  for (const c of table.searchAds) {
    const chance = (table.clickRate[c] ?? 0) * recognition;
    const cover = uniform(key, DAILY.cover + c);
    if (uniform(key, DAILY.adClick + c) >= chance) continue;
    if (cover >= (reach[c * calendar.total + at] ?? 0)) {
      if (cover < (world.usualReach[c * calendar.total + at] ?? 0) && missed < 0) missed = c;
      continue;
    }
    if (at >= shop.burnInDays) {
      state.reached |= 1 << c;
      recorder?.pay(at, c, 1);
    }
    state.slow[c] = (state.slow[c] ?? 0) + 1;
    state.fresh[c] = (state.fresh[c] ?? 0) + 1;
    if (uniform(key, DAILY.gain) < (table.considerGain[c] ?? 0)) state.considered = true;
    day.clickBy = c;
    day.clickS = day.sessionS;
    day.clickTouch = visitBy(world, state, at, day.sessionS, c, recorder);
    return;
  }
  const taken = missed >= 0 && uniform(key, DAILY.substitute) < (table.organicSubstitution[missed] ?? 0);
  if (!taken && uniform(key, DAILY.organic) >= shop.organicClick * recognition) return;
  if (uniform(key, DAILY.gain) < shop.visitGain) state.considered = true;
  day.clickBy = table.organicSearch;
  day.clickS = day.sessionS;
  day.clickTouch = visitBy(world, state, at, day.sessionS, table.organicSearch, recorder);
}

/** A day of somebody with a need: research, and on the last day the choice. */
export function searchAndChoose(
  world: World,
  person: Person,
  state: State,
  day: Day,
  reach: Float64Array,
  recorder: Recorder | null,
  tally: Tally,
): void {
  const { shop } = world;
  const { at, key } = day;
  const deciding = at >= state.choiceAt;
  if (!deciding && uniform(key, DAILY.research) >= shop.researchRate) return;
  const needKey = needKeyOf(person, state.needAt);
  const awareness = awarenessTerm(world, person, state);
  if (uniform(key, DAILY.categorySearch) < shop.categorySearch) {
    searchCategory(world, state, day, reach, recorder, awareness);
  }
  if (!state.considered) state.considered = comesToMind(world, person, state, at, needKey, awareness);
  if (deciding) {
    decide(world, person, state, day, reach, recorder, tally, needKey);
    return;
  }
  if (!state.considered || uniform(key, DAILY.look) >= 0.6) return;
  if (person.couponSeeker) lookForCoupon(world, state, day, reach, recorder, uniform(key, DAILY.coupon) * 4);
  const door = navigationalDoor(world, person, state, at, key, DAILY.door + 4, reach);
  visitBy(world, state, at, day.sessionS + 400, door, recorder);
  if (uniform(key, DAILY.cart) < 0.2) state.lastCart = at;
}

/** A click on a coupon site before the shop, by somebody who may not buy in the end. */
function lookForCoupon(
  world: World,
  state: State,
  day: Day,
  reach: Float64Array,
  recorder: Recorder | null,
  chance: number,
): void {
  const { table, shop, calendar } = world;
  const site = table.couponDoor;
  if (site < 0 || chance >= (reach[site * calendar.total + day.at] ?? 0)) return;
  if (day.at >= shop.burnInDays) state.reached |= 1 << site;
  visitBy(world, state, day.at, day.sessionS + 800, site, recorder);
}

function decide(
  world: World,
  person: Person,
  state: State,
  day: Day,
  reach: Float64Array,
  recorder: Recorder | null,
  tally: Tally,
  needKey: number,
): void {
  const { shop, table, calendar } = world;
  const { at } = day;
  const door = table.couponDoor;
  const couponMet =
    door >= 0 && person.couponSeeker && uniform(needKey, NEED.coupon) < (reach[door * calendar.total + at] ?? 0);
  const coupon = couponMet ? table.couponDiscount : 0;
  const chosen = choose(world, person, state, at, needKey, coupon, lifeEvent(world, person, at));
  if (couponMet && at >= shop.burnInDays && state.considered) state.reached |= 1 << door;
  state.needAt = -1;
  if (chosen === NOT_BOUGHT) {
    // the need is met otherwise, in part
    state.sincePurchase = Math.floor(0.4 * state.sincePurchase);
    // some looked at the shop all the same
    if (couponMet && state.considered) lookForCoupon(world, state, day, reach, recorder, 0);
    if (state.considered && uniform(needKey, NEED.closing) < 0.6) {
      visitBy(
        world,
        state,
        at,
        day.sessionS + 500,
        navigationalDoor(world, person, state, at, needKey, NEED.door, reach),
        recorder,
      );
    }
    return;
  }
  let winner = chosen <= FIRST_RIVAL ? 1 + FIRST_RIVAL - chosen : OURS;
  // without the shop's own ad some who search its name end at the rival who bids on it
  if (winner === OURS && shop.brandLeak > 0 && uniform(needKey, NEED.leak) < shop.brandLeak) {
    const by = navigationalDoor(world, person, state, at, needKey, NEED.door, reach);
    if (by === table.organicSearch && table.brandDoor >= 0) winner = 1;
    if (by === table.brandDoor && by >= 0 && at >= shop.burnInDays) state.reached |= 1 << by;
  }
  if (winner === OURS) {
    const cents = orderCents(world, at, needKey, chosen, coupon);
    if (at >= shop.burnInDays) {
      tally.orders += 1;
      tally.cents += cents;
      if (at >= tally.armFrom && at < tally.armTo) {
        tally.armOrders += 1;
        tally.armCents += cents;
      }
    }
    close(world, person, state, day, reach, recorder, needKey, couponMet, cents);
    state.onList = state.onList || person.optsIn;
    state.lastCart = -1000;
  }
  state.lastShop = winner;
  state.sincePurchase = 0;
}

/** By which door the buyer comes: the click of the day, the shop's name, and at last perhaps a coupon site. */
function close(
  world: World,
  person: Person,
  state: State,
  day: Day,
  reach: Float64Array,
  recorder: Recorder | null,
  needKey: number,
  couponMet: boolean,
  cents: number,
): void {
  const { table, shop } = world;
  const { at } = day;
  const byClick = day.clickBy >= 0 && uniform(needKey, NEED.closing) < 0.6;
  const door = byClick ? day.clickBy : navigationalDoor(world, person, state, at, needKey, NEED.door, reach);
  const start = byClick ? day.clickS : day.sessionS + 900;
  const second = start + 240 + Math.floor(1200 * uniform(needKey, NEED.closing + 200));
  const inWindow = at >= shop.burnInDays;
  state.lastVisit = at;
  if (inWindow && door === table.brandDoor) {
    state.reached |= 1 << door;
    recorder?.pay(at, door, 1);
  }
  if (recorder === null || !inWindow) return;
  if (couponMet) {
    if (!byClick) recorder.touch(at, start, door);
    recorder.pay(at, table.couponDoor, cents / 100);
    recorder.sale(at, second, cents, table.couponDoor, -1);
    return;
  }
  const closing = door === table.direct || (byClick && day.clickTouch < 0) ? -1 : door;
  recorder.sale(at, second, cents, closing, byClick ? day.clickTouch : -1);
}
