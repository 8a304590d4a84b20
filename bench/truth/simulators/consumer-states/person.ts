import { lognormal, mix, normal, uniform } from './random.ts';
import type { ShopSpec } from './shop-spec.ts';
import { AWARE, CONSIDERING, DORMANT, SATIATED } from './shop-spec.ts';

/** What doesn't change about a person in the window. Reused from person to person. */
export class Person {
  key = 0;
  needRate = 0;
  cycle = 0;
  /** how far media move this person */
  response = 1;
  activity = 1;
  dealProne = 0;
  basket = 0;
  opens = 0;
  longStanding = false;
  heldOut = false;
  readonly habit: Float64Array;

  constructor(channels: number) {
    this.habit = new Float64Array(channels);
  }
}

/** What changes from day to day; copied at the window's start, where counterfactuals branch off. */
export class PersonState {
  state = DORMANT;
  loyalty = 0;
  customer = false;
  lastOrder = -999;
  lastVisit = -999;
  cartUntil = -999;
  satiatedUntil = -999;
  onList = false;
  heard = 0;
  ordinal = 0;
  readonly stock: Float64Array;
  readonly lastExposure: Float64Array;

  constructor(channels: number) {
    this.stock = new Float64Array(channels);
    this.lastExposure = new Float64Array(channels);
  }

  copyFrom(other: PersonState): void {
    this.state = other.state;
    this.loyalty = other.loyalty;
    this.customer = other.customer;
    this.lastOrder = other.lastOrder;
    this.lastVisit = other.lastVisit;
    this.cartUntil = other.cartUntil;
    this.satiatedUntil = other.satiatedUntil;
    this.onList = other.onList;
    this.heard = other.heard;
    this.ordinal = other.ordinal;
    this.stock.set(other.stock);
    this.lastExposure.set(other.lastExposure);
  }
}

const ACTIVITY_SIGMA = 0.6;
/** long-standing customers are moved less: they buy anyway */
const RESPONSE_OF_CUSTOMERS = 0.45;
const NEED_OF_CUSTOMERS = 2.5;
const LIST_OF_CUSTOMERS = 0.75;
const LIST_OF_OTHERS = 0.06;

/**
 * Draws a person: need, media habits (those online most both see and buy more: activity bias, Lewis, Rao & Reiley
 * 2011), and the state in which the burn-in begins.
 */
export function drawPerson(spec: ShopSpec, index: number, person: Person, state: PersonState): void {
  const key = mix(mix(spec.seed, 21), index);
  const online = normal(key, 0);
  const customer = uniform(key, 1001) < spec.customerShare;
  person.key = key;
  person.longStanding = customer;
  person.activity = Math.exp(ACTIVITY_SIGMA * online - (ACTIVITY_SIGMA * ACTIVITY_SIGMA) / 2);
  const need = Math.exp(0.35 * online - 0.06) * lognormal(key, 1, spec.needSigma);
  person.needRate = need * (customer ? NEED_OF_CUSTOMERS : 0.8);
  person.cycle = spec.cycleDays * lognormal(key, 2, 0.35) * (customer ? 0.8 : 1);
  person.response = lognormal(key, 3, 0.6) * (customer ? RESPONSE_OF_CUSTOMERS : 1.1);
  person.dealProne = uniform(key, 1002);
  person.basket = spec.basket * lognormal(key, 4, spec.basketSigma * 0.6);
  person.opens = 0.12 + 0.5 * uniform(key, 1003) * (customer ? 1 : 0.6);
  const channels = spec.channels;
  for (let c = 0; c < channels.length; c += 1) {
    const channel = channels[c]!;
    const member = uniform(key, 1100 + c) < channel.member;
    const lookalike = channel.targeting === 'prospect' ? Math.pow(need, 0.35) : 1;
    const online01 = channel.targeting === 'broad' ? Math.pow(person.activity, -0.2) : person.activity;
    const habit = lognormal(key, 600 + c, channel.habitSigma) * lookalike * online01;
    person.habit[c] = member ? Math.min(6, habit) : 0;
  }
  drawStart(spec, person, state);
}

function drawStart(spec: ShopSpec, person: Person, state: PersonState): void {
  const key = person.key;
  const customer = person.longStanding;
  const start = -spec.burnInDays;
  const u = uniform(key, 1004);
  state.customer = customer;
  state.loyalty = customer ? 0.35 + 0.6 * uniform(key, 1005) : 0.15 * uniform(key, 1005);
  state.lastOrder = customer ? start - 1 - person.cycle * 1.5 * uniform(key, 1006) : -999;
  state.lastVisit = customer ? state.lastOrder : -999;
  state.cartUntil = -999;
  state.onList = uniform(key, 1007) < (customer ? LIST_OF_CUSTOMERS : LIST_OF_OTHERS);
  state.heard = 0;
  state.ordinal = 0;
  state.stock.fill(0);
  state.lastExposure.fill(-999);
  state.satiatedUntil = -999;
  if (customer && u < 0.5) {
    state.state = SATIATED;
    state.satiatedUntil = start + person.cycle * 0.8 * uniform(key, 1008);
  } else {
    state.state = u < 0.8 ? DORMANT : u < 0.92 ? AWARE : CONSIDERING;
  }
}
