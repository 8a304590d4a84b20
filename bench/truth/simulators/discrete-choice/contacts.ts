import { OURS } from './person.ts';
import type { Person, State } from './person.ts';
import { branch, uniform } from './random.ts';
import type { Recorder } from './recorder.ts';
import { KIND } from './world.ts';
import type { World } from './world.ts';

/** What a day of one person carries from step to step. */
export class Day {
  at = 0;
  key = 0;
  /** second of the day at which the person looks and decides, if at all */
  sessionS = 0;
  /** a click before the session that may close an order: channel, touch in the recorder, second */
  clickBy = -1;
  clickTouch = -1;
  clickS = 0;
  /** bits of channels whose contact comes after the session: they work from tomorrow */
  late = 0;
}

/** Counters of a day's draws; those with a channel or a visit added lie apart. */
export const DAILY = {
  session1: 1,
  session2: 2,
  need: 3,
  research: 4,
  browse: 5,
  follow: 6,
  cart: 7,
  look: 8,
  categorySearch: 9,
  organic: 10,
  substitute: 11,
  gain: 12,
  coupon: 13,
  secondOfBrowse: 14,
  idleSearch: 15,
  contact: 20,
  second: 40,
  click: 60,
  halo: 80,
  cover: 100,
  adClick: 120,
  door: 140,
  haloDoor: 200,
} as const;

const RETARGETING_WINDOW = 30;
const RETARGETING_DAYS = 9;

/**
 * The door of somebody who has the shop in mind: an ad or mail just met, the brand's search ad, the free result below
 * it, or directly.
 */
export function navigationalDoor(
  world: World,
  person: Person,
  state: State,
  at: number,
  key: number,
  counter: number,
  reach: Float64Array,
): number {
  const { table, calendar } = world;
  if (at - state.contactAt <= 2 && uniform(key, counter + 2) < (table.doorUse[state.contactBy] ?? 0)) {
    return state.contactBy;
  }
  const searches = person.searchDoor * (state.lastShop === OURS ? 0.75 : 1);
  if (uniform(key, counter) >= searches) return table.direct;
  const ad = table.brandDoor;
  if (ad >= 0 && uniform(key, counter + 1) < 0.8 * (reach[ad * calendar.total + at] ?? 0)) return ad;
  return table.organicSearch;
}

/** Notes a visit's click or direct entry. */
export function visitBy(
  world: World,
  state: State,
  at: number,
  second: number,
  door: number,
  recorder: Recorder | null,
): number {
  state.lastVisit = at;
  if (at >= world.shop.burnInDays && door === world.table.brandDoor) {
    state.reached |= 1 << door;
    recorder?.pay(at, door, 1);
  }
  return recorder === null ? -1 : recorder.touch(at, second, door);
}

function contactChance(world: World, person: Person, state: State, at: number, c: number, reach: Float64Array): number {
  const { table, calendar } = world;
  const usual = reach[c * calendar.total + at] ?? 0;
  if (usual === 0) return 0;
  const kind = table.kind[c];
  const inMarket = state.needAt >= 0;
  if (kind === KIND.list) {
    if (!state.onList || calendar.mailing[at] !== 1) return 0;
    return usual * person.readRate * (inMarket ? 1.3 : 1);
  }
  let rate = usual * (person.habit[c] ?? 0) * (inMarket ? (table.inMarketBoost[c] ?? 1) : 1);
  if (kind === KIND.retargeting) {
    const since = at - state.lastVisit;
    if (since < 1 || since > RETARGETING_WINDOW) return 0;
    rate *= Math.exp(-since / RETARGETING_DAYS) * (at - state.lastCart <= 7 ? 1.8 : 1);
    // buyers are mostly taken off the audience
    if (state.lastShop === OURS && state.sincePurchase < 14) rate *= 0.25;
  }
  return rate / (1 + rate);
}

/** The day's contacts by media habits, by retargeting and by the shop's own list; stocks decay first. */
export function meetMedia(
  world: World,
  person: Person,
  state: State,
  day: Day,
  reach: Float64Array,
  recorder: Recorder | null,
): void {
  const { table, shop } = world;
  const { at, key } = day;
  const { slow, fresh } = state;
  const inWindow = at >= shop.burnInDays;
  for (let c = 0; c < table.count; c++) {
    slow[c] = (slow[c] ?? 0) * (table.slowRetention[c] ?? 0);
    fresh[c] = (fresh[c] ?? 0) * (table.freshRetention[c] ?? 0);
  }
  for (const c of table.contact) {
    const chance = contactChance(world, person, state, at, c, reach);
    if (chance === 0 || uniform(key, DAILY.contact + c) >= chance) continue;
    if (inWindow) state.reached |= 1 << c;
    const u = uniform(key, DAILY.second + c);
    const second = Math.floor(table.kind[c] === KIND.list ? 32400 + 36000 * u * u : 25200 + 57600 * u);
    const clicked = uniform(key, DAILY.click + c) < (table.clickRate[c] ?? 0) * (state.needAt >= 0 ? 2 : 0.8);
    if (inWindow) recorder?.pay(at, c, 1);
    let touch = -1;
    if (recorder !== null && table.tracked[c] === 1 && (clicked || table.views[c] === 1)) {
      touch = recorder.touch(at, second, c);
    }
    if (clicked) {
      state.lastVisit = at;
    } else if (uniform(key, DAILY.halo + c) < (table.haloVisitRate[c] ?? 0)) {
      const door = navigationalDoor(world, person, state, at, key, DAILY.haloDoor + 3 * c, reach);
      visitBy(world, state, at, second + 300 + Math.floor(600 * u), door, recorder);
    }
    if (second >= day.sessionS) {
      day.late |= 1 << c;
      continue;
    }
    if ((table.doorUse[c] ?? 0) > 0) {
      state.contactBy = c;
      state.contactAt = at;
    }
    // a click is as much attention as three views
    slow[c] = (slow[c] ?? 0) + (clicked ? 3 : 1);
    fresh[c] = (fresh[c] ?? 0) + (clicked ? 3 : 1);
    if (clicked && second > day.clickS) {
      day.clickBy = c;
      day.clickTouch = touch;
      day.clickS = second;
    }
  }
}

/** Contacts after the session enter the stocks when the day is over. */
export function settleLate(world: World, state: State, day: Day): void {
  for (let c = 0, bits = day.late; bits !== 0; c++, bits >>>= 1) {
    if ((bits & 1) === 0) continue;
    state.slow[c] = (state.slow[c] ?? 0) + 1;
    state.fresh[c] = (state.fresh[c] ?? 0) + 1;
    if ((world.table.doorUse[c] ?? 0) > 0) {
      state.contactBy = c;
      state.contactAt = day.at;
    }
  }
}

/** Looks at the shop without a need: customers, the curious, followers of its free social posts. */
export function browse(
  world: World,
  person: Person,
  state: State,
  day: Day,
  reach: Float64Array,
  recorder: Recorder | null,
): void {
  const { table, calendar } = world;
  const { at, key } = day;
  const bargain = 1 + 8 * (calendar.promotion[at] ?? 0);
  const rate = person.browseRate * (state.lastShop === OURS ? 3 : 1) * bargain;
  if (uniform(key, DAILY.browse) < rate) {
    const second = 25200 + Math.floor(57600 * uniform(key, DAILY.secondOfBrowse));
    const door = navigationalDoor(world, person, state, at, key, DAILY.door, reach);
    visitBy(world, state, at, second, door, recorder);
  }
  if (table.organicSocial >= 0 && person.follower && uniform(key, DAILY.follow) < 0.04) {
    const second = 25200 + Math.floor(57600 * uniform(branch(key, DAILY.follow), 1));
    visitBy(world, state, at, second, table.organicSocial, recorder);
  }
}

/** Whether the person's life changes about now (moving, a child, a new job): spells of 40 days. */
export function lifeEvent(world: World, person: Person, at: number): boolean {
  const spell = Math.floor((at + ((person.key >>> 3) % 40)) / 40);
  return uniform(branch(person.key, 51), spell) < world.shop.lifeEventRate;
}
