import { branch, mix, normal, uniform } from './random.ts';
import type { World } from './world.ts';

/** Shops in `State.lastShop`: ours is 0, the rivals follow. */
export const OURS = 0;
/** A day long before the burn-in: never. */
export const NEVER = -100000;

/** A person's coefficients: drawn once, the same in every run. */
export class Person {
  index = 0;
  key = 0;
  needInterval = 1;
  brand = 0;
  priceSensitivity = 1;
  response = 1;
  searchDays = 1;
  readRate = 0;
  couponSeeker = false;
  follower = false;
  optsIn = false;
  browseRate = 0;
  searchDoor = 0;
  ids = 1;
  readonly habit: Float64Array;

  constructor(channels: number) {
    this.habit = new Float64Array(channels);
  }
}

/** What changes from day to day. Days are counted from the burn-in's first. */
export class State {
  lastShop = -1;
  sincePurchase = 0;
  /** day on which the need came up; -1 = none now */
  needAt = -1;
  choiceAt = -1;
  considered = false;
  lastVisit = NEVER;
  lastCart = NEVER;
  onList = false;
  /** the last contact that can be clicked later on */
  contactBy = -1;
  contactAt = NEVER;
  /** bits of the paid channels that did something to the person in the window */
  reached = 0;
  readonly slow: Float64Array;
  readonly fresh: Float64Array;

  constructor(channels: number) {
    this.slow = new Float64Array(channels);
    this.fresh = new Float64Array(channels);
  }

  copyFrom(other: State): void {
    this.lastShop = other.lastShop;
    this.sincePurchase = other.sincePurchase;
    this.needAt = other.needAt;
    this.choiceAt = other.choiceAt;
    this.considered = other.considered;
    this.lastVisit = other.lastVisit;
    this.lastCart = other.lastCart;
    this.onList = other.onList;
    this.contactBy = other.contactBy;
    this.contactAt = other.contactAt;
    this.reached = other.reached;
    this.slow.set(other.slow);
    this.fresh.set(other.fresh);
  }
}

/** Key of a person; different for different indices of one shop. */
export function personKey(seed: number, index: number): number {
  return mix(branch(seed, 21) ^ mix(index + 1));
}

/** Draws a person's coefficients: random coefficients of the choice model, media habits, targeting by lookalikes. */
export function drawPerson(world: World, index: number, person: Person): void {
  const { shop } = world;
  const key = personKey(shop.seed, index);
  const needTaste = normal(key, 1);
  const brandTaste = normal(key, 2);
  const online = normal(key, 3);
  const priceTaste = normal(key, 4);
  person.index = index;
  person.key = key;
  person.needInterval = world.needInterval * Math.exp(-shop.needSd * needTaste);
  person.brand = shop.brandSd * brandTaste;
  person.priceSensitivity = shop.priceSensitivity * Math.exp(shop.priceSd * priceTaste);
  person.response = Math.exp(shop.responseSd * normal(key, 5) - 0.5 * shop.responseSd ** 2);
  person.searchDays = shop.searchDays * Math.exp(0.5 * normal(key, 6) - 0.125);
  person.readRate = Math.min(1, 0.2 + 1.6 * uniform(key, 7));
  // those who mind prices look for coupons more often
  person.couponSeeker = uniform(key, 8) < shop.couponSeekers * Math.exp(0.4 * priceTaste);
  person.follower = uniform(key, 9) < shop.followerShare * Math.exp(0.7 * brandTaste);
  person.optsIn = uniform(key, 10) < shop.optInRate;
  person.browseRate = shop.browseRate * Math.exp(0.6 * brandTaste + 0.3 * online);
  person.searchDoor = Math.min(0.95, Math.max(0.05, shop.searchDoor + 0.25 * (uniform(key, 11) - 0.5)));
  person.ids = uniform(key, 12) < shop.severalIdsShare ? (uniform(key, 13) < 0.3 ? 3 : 2) : 1;
  shop.channels.forEach((channel, c) => {
    const uses = uniform(key, 100 + c) < channel.audienceShare;
    if (!uses || channel.kind === 'unpaid') {
      person.habit[c] = 0;
      return;
    }
    const shared = channel.tracked ? 0.35 : 0;
    const targeted = channel.needTargeting * needTaste + channel.brandTargeting * brandTaste + shared * online;
    const rest = 1 - channel.needTargeting ** 2 - channel.brandTargeting ** 2 - shared ** 2;
    const z = targeted + Math.sqrt(Math.max(0.1, rest)) * normal(key, 200 + c);
    person.habit[c] = Math.exp(channel.habitSd * z - 0.5 * channel.habitSd ** 2) / channel.audienceShare;
  });
}

/** The state on the burn-in's first day: part of the people are customers already, stocks are empty. */
export function startState(world: World, person: Person, state: State): void {
  const { shop } = world;
  const key = branch(person.key, 31);
  const rivals = shop.rivals.length;
  const customer = uniform(key, 1) < 0.1 * Math.exp(0.8 * person.brand);
  const formerly = uniform(key, 2) < 0.08 * Math.exp(0.8 * person.brand);
  state.lastShop = customer ? OURS : 1 + Math.floor(uniform(key, 3) * rivals);
  state.sincePurchase = Math.floor(1.3 * Math.min(person.needInterval, 730) * uniform(key, 4));
  state.needAt = -1;
  state.choiceAt = -1;
  state.considered = false;
  state.lastVisit = NEVER;
  state.lastCart = NEVER;
  state.onList = (customer || formerly) && person.optsIn;
  state.contactBy = -1;
  state.contactAt = NEVER;
  state.reached = 0;
  state.slow.fill(0);
  state.fresh.fill(0);
}
