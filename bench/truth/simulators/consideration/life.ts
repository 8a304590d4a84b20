import type { Diary } from './diary.ts';
import { keyOf, normalOf, uniform } from './random.ts';
import {
  AFFILIATE,
  BRAND_SEARCH,
  BURN_IN_DAYS,
  CHANNELS,
  DAYS,
  DIRECT,
  DISPLAY,
  EMAIL,
  ORGANIC,
  PAID_COUNT,
  PAID_SEARCH,
  RETARGETING,
  SOCIAL,
  VIDEO,
} from './world.ts';
import type { World } from './world.ts';

/** What is done to one person: factors on the channels' intensity in the window, and channels, as bits, withheld. */
export interface Scenario {
  readonly factors: Float64Array;
  readonly withheld: { readonly bits: number; readonly fromDay: number; readonly toDay: number } | null;
}

/** A person is out of the market, looks around, or has decided to buy. */
const OUT = 0;
const LOOKING = 1;
const DECIDED = 2;

/** Slots of a person's own draws, and of a day's. A touch's slots begin at these, one per channel. */
const TRAITS = 0x5eed;
const MOVE = 10;
const ORDER = 11;
const VALUE = 12;
const DOOR = 14;
const SOON = 15;
const DELAY = 16;
const LATER = 17;
const AFTERWARDS = 18;
const SAME_SESSION = 19;
const MEETING = 20;
const TIME = 40;
const CLICK = 60;

const DAY_S = 86_400;
/** touches leave the last minutes of a day to the order */
const LATEST_TOUCH_S = 86_000;
const LATEST_ORDER_S = 86_390;
const RETARGETING_DAYS = 14;
/** long before the first day */
const NEVER = -99;
/** log of the daily hazard of an order, by state */
const HAZARD = [-10.8, -6.6, -4] as const;
/** part of the orders outside of a session to which buyers come without a click, by typing the address */
const TYPED = 0.35;

/** Saturation of a stock: 1 at one fresh touch. */
const saturated = (stock: number): number => (1 - Math.exp(-1.2 * stock)) / (1 - Math.exp(-1.2));

/** One person's days, the burn-in included. The same object lives one person after the other. */
export class Life {
  /** of the last life, in the window; `inHoldout` in the days in which the scenario's channel may be withheld */
  orders = 0;
  cents = 0;
  readonly inHoldout = { orders: 0, cents: 0 };
  /** bits of the paid channels that the person met in the window */
  met = 0;

  private readonly world: World;
  private readonly unchanged = new Float64Array(CHANNELS.length).fill(1);
  private readonly stock = new Float64Array(PAID_COUNT);
  private readonly dayChannel: number[] = [];
  private readonly dayTimeS: number[] = [];
  private touches = 0;
  private key = 0;
  private day = 0;
  private state = OUT;
  private lastVisit = NEVER;
  private affinity = 0;
  /** time spent online, mean about 1 */
  private online = 0;
  private onList = false;
  private mailDay = 0;
  private factors: Float64Array = this.unchanged;
  /** bits of channels */
  private withheld = 0;
  /** of video and display, left over from the days before */
  private awareness = 0;
  private diary: Diary | null = null;

  constructor(world: World) {
    this.world = world;
  }

  /** @param holdout days whose orders count for `inHoldout`, whether or not this person is held out */
  live(
    person: number,
    scenario: Scenario,
    holdout: { fromDay: number; toDay: number } | null,
    diary: Diary | null,
  ): void {
    const personKey = keyOf(this.world.setting.seed, person + 1);
    this.begin(keyOf(personKey, TRAITS));
    for (let t = 0; t < BURN_IN_DAYS + DAYS; t++) {
      const day = t - BURN_IN_DAYS;
      const { withheld } = scenario;
      const isWithheld = withheld !== null && day >= 0 && day >= withheld.fromDay && day < withheld.toDay;
      this.key = keyOf(personKey, t);
      this.day = t;
      this.factors = day >= 0 ? scenario.factors : this.unchanged;
      this.withheld = isWithheld ? withheld.bits : 0;
      this.diary = day >= 0 ? diary : null;
      this.forget();
      this.move();
      this.meetChannels();
      this.takeTouches();
      const cents = this.order();
      if (cents === 0 || day < 0) continue;
      this.orders++;
      this.cents += cents;
      if (holdout === null || day < holdout.fromDay || day >= holdout.toDay) continue;
      this.inHoldout.orders++;
      this.inHoldout.cents += cents;
    }
  }

  private begin(key: number): void {
    const half = (slot: number): number => Math.log(1 - uniform(key, slot) * 0.999) * 0.5;
    this.orders = 0;
    this.cents = 0;
    this.inHoldout.orders = 0;
    this.inHoldout.cents = 0;
    this.met = 0;
    this.stock.fill(0);
    this.lastVisit = NEVER;
    this.affinity = normalOf(uniform(key, 0), uniform(key, 1));
    this.online = -half(2) - half(3);
    this.onList = uniform(key, 4) < 1 / (1 + Math.exp(1 - 0.8 * this.world.selection * this.affinity));
    this.mailDay = Math.floor(uniform(key, 5) * 7);
    this.state = uniform(key, 6) < 0.04 ? LOOKING : OUT;
  }

  private forget(): void {
    const { decay } = this.world;
    for (let c = 0; c < PAID_COUNT; c++) this.stock[c]! *= decay[c]!;
    this.awareness = this.stock[VIDEO]! + 0.5 * this.stock[DISPLAY]!;
  }

  /** Among the states: low draws move towards buying, high ones away from it. */
  private move(): void {
    const { entry, selection } = this.world;
    const u = uniform(this.key, MOVE);
    if (this.state === OUT) {
      let attracted = 1;
      for (let c = 0; c < PAID_COUNT; c++) if (entry[c] !== 0) attracted += entry[c]! * saturated(this.stock[c]!);
      const own = Math.exp(0.35 * selection * this.affinity);
      if (u < 0.0028 * own * Math.pow(this.online + 0.05, 0.3 * selection) * attracted) this.state = LOOKING;
    } else if (this.state === LOOKING) {
      const searched = 1 + 0.5 * entry[PAID_SEARCH]! * saturated(this.stock[PAID_SEARCH]!);
      if (u < 0.07 * searched) this.state = DECIDED;
      else if (u > 0.92) this.state = OUT;
    } else if (u > 0.86) this.state = LOOKING;
    else if (u > 0.82) this.state = OUT;
  }

  /** The day's touches: who is in the market searches and is found, who has decided comes by navigational clicks. */
  private meetChannels(): void {
    const { state, online, stock, affinity } = this;
    const { confounding, halo } = this.world.setting;
    const { selection } = this.world;
    const liking = (exponent: number): number => Math.exp(exponent * selection * affinity);
    const byState = (out: number, looking: number, decided: number): number =>
      state === OUT ? out : state === LOOKING ? looking : decided;
    const inMarket = (part: number): number => (state === OUT ? 1 : 1 + part * confounding);
    this.touches = 0;
    this.meet(VIDEO, 0.011 * online);
    this.meet(DISPLAY, 0.022 * online * liking(0.15));
    this.meet(SOCIAL, 0.012 * online * liking(0.2) * inMarket(0.4));
    this.meet(PAID_SEARCH, byState(0.001, 0.05, 0.07));
    this.meet(BRAND_SEARCH, byState(0.0004, 0.012, 0.012 + 0.06 * confounding) * (1 + 0.5 * saturated(this.awareness)));
    if (this.day - this.lastVisit <= RETARGETING_DAYS) {
      this.meet(RETARGETING, 0.06 * (1 + confounding * byState(0, 1, 1.5)));
    }
    if (this.onList && this.day % 7 === this.mailDay) this.meet(EMAIL, 0.13 * liking(0.2) * inMarket(0.5));
    this.meet(AFFILIATE, state === DECIDED ? 0.02 * (1 + confounding) : 0.001);
    const curious =
      halo === 0
        ? 0
        : halo *
          (0.003 * saturated(stock[VIDEO]!) + 0.001 * saturated(stock[DISPLAY]!) + 0.002 * saturated(stock[SOCIAL]!));
    this.meet(ORGANIC, byState(0.0035, 0.05, 0.07) + curious);
    this.meet(DIRECT, byState(0.0025, 0.03, 0.1) * liking(0.3) + 0.5 * curious);
  }

  private factorOf(c: number): number {
    return ((this.withheld >> c) & 1) === 1 ? 0 : this.factors[c]!;
  }

  /** A touch by that chance; touches of a day are kept in the order of time. */
  private meet(c: number, chance: number): void {
    const { frequency, intensity } = this.world;
    if (uniform(this.key, MEETING + c) >= chance * intensity[c]![this.day]! * frequency[c]! * this.factorOf(c)) return;
    const timeS = uniform(this.key, TIME + c) * LATEST_TOUCH_S;
    let at = this.touches++;
    for (; at > 0 && this.dayTimeS[at - 1]! > timeS; at--) {
      this.dayTimeS[at] = this.dayTimeS[at - 1]!;
      this.dayChannel[at] = this.dayChannel[at - 1]!;
    }
    this.dayTimeS[at] = timeS;
    this.dayChannel[at] = c;
  }

  private takeTouches(): void {
    for (let i = 0; i < this.touches; i++) {
      const c = this.dayChannel[i]!;
      if (c < PAID_COUNT) this.remember(c);
      if (isDoor(c) || uniform(this.key, CLICK + c) < (c === RETARGETING ? 0.35 : 0.08)) this.lastVisit = this.day;
      this.diary?.touch((this.day - BURN_IN_DAYS) * DAY_S + this.dayTimeS[i]!, c);
    }
  }

  private remember(c: number): void {
    this.stock[c]! += 1;
    if (this.day >= BURN_IN_DAYS) this.met |= 1 << c;
  }

  /** @returns the value of the day's order in cents, 0 where there is none */
  private order(): number {
    const { key, affinity } = this;
    if (uniform(key, ORDER) >= 1 - Math.exp(-Math.exp(this.logHazard()))) return 0;
    const spread = 0.5 * normalOf(uniform(key, VALUE), uniform(key, VALUE + 1));
    const cents = Math.round(100 * Math.exp(3.9 + 0.12 * affinity + spread));
    this.state = uniform(key, AFTERWARDS) < 0.7 ? OUT : LOOKING;
    this.lastVisit = NEVER;
    if (this.day >= BURN_IN_DAYS) this.checkOut(cents);
    return cents;
  }

  private logHazard(): number {
    const { lift, selection, season, synergy } = this.world;
    const { stock } = this;
    let eta =
      HAZARD[this.state]! +
      0.3 * selection * this.affinity +
      0.2 * selection * Math.log(this.online + 0.05) +
      Math.log(season[this.day]!);
    for (let c = 0; c < PAID_COUNT; c++) {
      if (lift[c] !== 0 && stock[c]! > 1e-4) eta += lift[c]! * saturated(stock[c]!);
    }
    const fresh = Math.min(1, stock[PAID_SEARCH]! + stock[EMAIL]!);
    return fresh > 0.05 && this.awareness > 0.05 ? eta + synergy * fresh * Math.min(1, this.awareness) : eta;
  }

  /**
   * The session of an order: the day's last click is its click, or the buyer comes back, perhaps by a navigational
   * click, which does not cause the order.
   */
  private checkOut(cents: number): void {
    const { key, touches } = this;
    const lastS = touches > 0 ? this.dayTimeS[touches - 1]! : 0;
    const lastDoor = touches > 0 ? this.dayChannel[touches - 1]! : -1;
    const soon = uniform(key, SOON) < 0.6;
    const dayS = (this.day - BURN_IN_DAYS) * DAY_S;
    if (lastDoor >= 0 && isDoor(lastDoor) && soon && uniform(key, SAME_SESSION) < 0.6) {
      this.diary?.dropLast();
      this.diary?.order(dayS + Math.min(LATEST_ORDER_S, lastS + 60 + 600 * uniform(key, DELAY)), lastDoor, cents);
      return;
    }
    const door = this.doorOfOrder();
    if (door >= 0 && door < PAID_COUNT) this.remember(door);
    const timeS =
      soon && touches > 0
        ? lastS + 60 - 1200 * Math.log(1 - uniform(key, DELAY) * 0.999)
        : lastS + uniform(key, LATER) * (LATEST_ORDER_S - lastS);
    this.diary?.order(dayS + Math.min(LATEST_ORDER_S, timeS), door, cents);
  }

  /** Where a paid door is not there, or not as often, buyers come by the unpaid one. @returns -1 without a click */
  private doorOfOrder(): number {
    const { brandSearch, affiliate } = this.world.navigation;
    const u = uniform(this.key, DOOR);
    if (u < brandSearch) return u < brandSearch * this.factorOf(BRAND_SEARCH) ? BRAND_SEARCH : DIRECT;
    if (u < brandSearch + affiliate) return u < brandSearch + affiliate * this.factorOf(AFFILIATE) ? AFFILIATE : DIRECT;
    return u < brandSearch + affiliate + TYPED ? DIRECT : -1;
  }
}

/** Whether a touch is always a visit: searches, mails, affiliates and unpaid ones. */
const isDoor = (c: number): boolean => c >= PAID_SEARCH && c !== RETARGETING;
