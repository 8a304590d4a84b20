import { Agenda, CONTACT, DECIDE, FRIEND, HALO_VISIT, NEED, SEARCH, VISIT } from './agenda.ts';
import { Doors, LOST } from './doors.ts';
import { Following } from './following.ts';
import { Gate } from './gate.ts';
import type { Scenario } from './gate.ts';
import { Mind } from './mind.ts';
import type { Levels, Shop } from './model.ts';
import { OWN_VISIT } from './person.ts';
import type { Person } from './person.ts';
import { decisionTime, priceCut } from './purchase-times.ts';
import { exponential, gamma2, keyOf, normal, uniform } from './random.ts';
import { Stocks } from './stocks.ts';
import type { ShopView } from './shop-view.ts';

/** Spread of what a purchase lasts, part of the cycle. */
const LAST_SPREAD = 0.15;
/** Stock, as part of a cycle, at which an ad's chance to begin a purchase is down to 1 / e. */
const NUDGE_STOCK = 0.3;
/** Log odds of the shop whose ad began the purchase. */
const NUDGED_LOG_ODDS = 1.5;
/** Of an order without need, against one of need. */
const IMPULSE_VALUE = 0.5;
/** Days between a direct visit and its order. */
const DIRECT_BEFORE = 0.004;
/** Ads of one channel within one purchase. */
const ENOUGH_IN_MARKET = 2;

/** Draws of a contact (0–9 are of the mind), and of an occasion. */
const SLOT = { click: 10, view: 11, nudge: 12, impulse: 13, halo: 14, join: 15 } as const;
const ODD = { think: 0, searches: 2, visits: 3, choice: 4, last: 5, value: 30, friend: 34 } as const;

/** One person's window, and the weeks before it, under a plan. */
export class Life {
  orders = 0;
  cents = 0;
  readonly inHoldout = { orders: 0, cents: 0 };
  /** bits of the channels that met the person in the window */
  met = 0;
  private readonly shop: Shop;
  private readonly levels: Levels;
  private readonly agenda = new Agenda();
  private readonly gate: Gate;
  private readonly mind: Mind;
  private readonly doors: Doors;
  private readonly searchChannels: readonly number[];
  private readonly marketChannels: readonly number[];
  private readonly stocks: Stocks;
  private readonly following: Following;
  private span: { readonly fromDay: number; readonly toDay: number } | null = null;
  private person!: Person;
  private view: ShopView | null = null;

  constructor(shop: Shop, levels: Levels, scenario: Scenario) {
    const { channels } = shop;
    const those = (isOne: (c: number) => boolean): number[] => channels.map((_, c) => c).filter(isOne);
    this.shop = shop;
    this.levels = levels;
    this.gate = new Gate(channels, scenario);
    this.mind = new Mind(shop, levels);
    this.doors = new Doors(shop, this.gate);
    this.searchChannels = those((c) => ['search', 'comparison'].includes(channels[c]!.role));
    this.marketChannels = those((c) => channels[c]!.inMarket > 0);
    this.stocks = new Stocks(shop, this.agenda);
    this.following = new Following(shop, this.agenda);
  }

  /** @param span days whose orders are summed in `inHoldout` */
  live(
    person: Person,
    scenario: Scenario,
    span: { readonly fromDay: number; readonly toDay: number } | null,
    view: ShopView | null,
  ): void {
    this.begin(person, scenario, span, view);
    const { agenda, shop } = this;
    let n = 0;
    for (;;) {
      const meeting = n < person.count ? person.time[n]! : Infinity;
      const ahead = agenda.next();
      if (Math.min(meeting, ahead) >= shop.days) return;
      if (meeting <= ahead) {
        this.meeting(person.channel[n]!, meeting, person.keys[n]!);
        n++;
      } else {
        agenda.take();
        this.happen(agenda.time, agenda.kind, agenda.subject, agenda.key);
      }
    }
  }

  private begin(person: Person, scenario: Scenario, span: Life['span'], view: ShopView | null): void {
    this.person = person;
    this.span = span;
    this.view = view;
    this.orders = 0;
    this.cents = 0;
    this.inHoldout.orders = 0;
    this.inHoldout.cents = 0;
    this.met = 0;
    this.gate.follow(scenario);
    this.mind.enter(person);
    this.doors.enter(person);
    this.agenda.clear();
    this.stocks.enter(person);
    this.following.enter();
  }

  private meeting(channel: number, t: number, key: number): void {
    if (channel === OWN_VISIT) {
      if (this.mind.knows(t) && !this.mind.hasTurnedAway(t)) this.visit(t, key, false);
    } else if (this.shop.channels[channel]!.role !== 'newsletter' || this.mind.isOnList) {
      this.contact(channel, t, key);
    }
  }

  private happen(t: number, kind: number, subject: number, key: number): void {
    if (kind === NEED) {
      if (this.stocks.isDue(subject, key)) this.openOccasion(subject, t, key, false);
    } else if (kind === SEARCH) this.search(subject, t, key);
    else if (kind === DECIDE) this.decide(subject, t, key);
    else if (kind === VISIT) {
      if (this.mind.knows(t) && !this.mind.hasTurnedAway(t)) this.visit(t, key, false);
    } else if (kind === HALO_VISIT) this.visit(t, key, true);
    else if (kind === FRIEND) this.count(t, subject, () => this.view?.friendOrder(t, subject));
    else if (this.following.allows(subject, t)) this.contact(subject, t, key);
  }

  /** People look around, search, and meet ads of those who look for people like them; then they decide. */
  private openOccasion(good: number, t: number, key: number, isNudged: boolean): void {
    const { shop, agenda } = this;
    this.stocks.open(good, isNudged);
    const usual = Math.min(60, shop.goods[good]!.deliberationDays * gamma2(key, ODD.think));
    const decideAt = decisionTime(shop, t + usual * (isNudged ? 0.4 : 1), t, key);
    const length = decideAt - t;
    agenda.add(decideAt, DECIDE, good, key);
    const searches = Math.floor(3.2 * uniform(key, ODD.searches) ** 1.5);
    for (let n = 0; n < searches; n++) {
      const searchKey = keyOf(key, 100 + n);
      agenda.add(t + length * uniform(searchKey, 0), SEARCH, good, searchKey);
    }
    const visits = Math.floor(2.5 * uniform(key, ODD.visits));
    for (let n = 0; n < visits; n++) {
      const visitKey = keyOf(key, 200 + n);
      agenda.add(t + length * uniform(visitKey, 0), VISIT, good, visitKey);
    }
    for (const c of this.marketChannels) {
      const perDay = shop.channels[c]!.inMarket * (1 + shop.channels[c]!.k);
      let at = t;
      for (let n = 0; n < ENOUGH_IN_MARKET; n++) {
        const contactKey = keyOf(key, 300 + 8 * c + n);
        at += exponential(contactKey, 30) / perDay;
        if (at > decideAt) break;
        agenda.add(at, CONTACT, c, contactKey);
      }
    }
  }

  /** The ad of a search engine or price comparison is clicked; without it, some click the free result. */
  private search(good: number, t: number, key: number): void {
    const { searchChannels, shop } = this;
    const site = Math.floor(uniform(key, 1) * (searchChannels.length + 0.5));
    const c = site < searchChannels.length ? searchChannels[site]! : -1;
    const eager = this.mind.knows(t) ? 1.3 : 0.8;
    if (c >= 0 && uniform(key, 2) < shop.channels[c]!.click * eager) {
      const isPaid = this.gate.isOpen(c, t, key);
      if (!isPaid && uniform(key, 3) >= shop.channels[c]!.substitution) return;
      this.stocks.isFound[good] = 1;
      if (isPaid) this.contact(c, t, key);
      else this.freeClick(this.doors.organic, t, key);
    } else if (uniform(key, 4) < 0.1 * eager) {
      this.stocks.isFound[good] = 1;
      this.freeClick(this.doors.organic, t, key);
    }
  }

  private freeClick(channel: number, t: number, key: number): void {
    this.view?.touch(t, channel, key);
    this.following.visited(t, key, this.mind.isOnList);
  }

  /** Somebody comes by, by themselves; an ad on the shop's name may be in the way. */
  private visit(t: number, key: number, isHalo: boolean): void {
    const door = isHalo ? this.doors.freeDoor(key) : this.doors.ofVisit(t, key);
    if (this.shop.channels[door]!.paid) this.pay(door, t);
    this.view?.touch(t, door, key);
    this.following.visited(t, key, this.mind.isOnList);
  }

  private pay(door: number, t: number): void {
    if (t >= 0) this.met |= 1 << door;
    this.view?.bill.click(door, t);
  }

  private contact(c: number, t: number, key: number): void {
    const { role, click, viewSeen, effects } = this.shop.channels[c]!;
    const isSearch = role === 'search' || role === 'comparison';
    if (!isSearch && !this.gate.isOpen(c, t, key)) return;
    if (t >= 0) this.met |= 1 << c;
    this.view?.bill.contact(c, t);
    this.mind.meet(c, t, key);
    // People who need the goods click more, whether ads move them or not.
    if (isSearch || uniform(key, SLOT.click) < click * (this.stocks.openCount > 0 ? 2.5 : 0.8)) {
      this.view?.touch(t, c, key);
      this.view?.bill.click(c, t);
      this.doors.clicked(c, t);
      // Ads that follow visitors don't begin anew with every click on them.
      if (role !== 'retargeting' && role !== 'flows') this.following.visited(t, key, this.mind.isOnList);
    } else if (uniform(key, SLOT.view) < viewSeen) {
      this.view?.touch(t, c, key);
    }
    if (effects.halo > 0 && uniform(key, SLOT.halo) < effects.halo) {
      const visitKey = keyOf(key, 500);
      this.agenda.add(t + 0.05 + 1.5 * exponential(visitKey, 30), HALO_VISIT, 0, visitKey);
    }
    if (this.levels.effects === 0) return;
    if (effects.nudge > 0) this.nudge(effects.nudge * this.levels.effects, t, key);
    if (uniform(key, SLOT.impulse) < effects.impulse * this.levels.effects && !this.mind.hasTurnedAway(t))
      this.buy(0, t + 0.01, this.shop.channels[c]!.tracked ? c : -1, IMPULSE_VALUE, keyOf(key, 600));
  }

  /** Whoever has least left, and no purchase under way, may begin one now. */
  private nudge(chance: number, t: number, key: number): void {
    const good = this.stocks.scarcest(t);
    if (good < 0) return;
    const left = Math.max(0, this.stocks.left(good, t));
    if (uniform(key, SLOT.nudge) < Math.min(0.6, chance) * Math.exp(-left / NUDGE_STOCK))
      this.openOccasion(good, t, this.stocks.occasionKey(good), true);
  }

  /** The shop or another one; either way the good is there again. */
  private decide(good: number, t: number, key: number): void {
    const { shop, mind } = this;
    let lasts = Math.exp(LAST_SPREAD * normal(key, ODD.last));
    if (mind.knows(t) || this.stocks.isFound[good] === 1) {
      const depth = priceCut(shop.peaks, t);
      const logOdds = mind.logOdds(t, depth) + (this.stocks.isNudged[good] === 1 ? NUDGED_LOG_ODDS : 0);
      const door = uniform(key, ODD.choice) < 1 / (1 + Math.exp(-logOdds)) ? this.doors.ofOrder(t, key) : LOST;
      if (door !== LOST) {
        const gain = mind.basketGain(t);
        // What is bought in advance lasts longer; so part of a bigger basket is missing later.
        lasts *= 1 + 0.6 * gain + 1.5 * depth;
        this.buy(good, t, door, (1 + gain) * (1 - depth), key);
      }
    }
    this.stocks.refill(good, t, lasts);
  }

  private buy(good: number, t: number, door: number, factor: number, key: number): void {
    const { shop, agenda } = this;
    if (t >= shop.days) return;
    const { price, priceSpread } = shop.goods[good]!;
    const isPaid = door >= 0 && shop.channels[door]!.paid;
    const isDoor = isPaid && shop.channels[door]!.click === 1;
    if (isDoor) this.pay(door, t);
    const cut = isPaid ? shop.channels[door]!.discount : 0;
    const value = price * Math.exp(priceSpread * normal(key, ODD.value) - priceSpread ** 2 / 2) * factor * (1 - cut);
    const cents = Math.max(100, Math.round(100 * value));
    if (isPaid) this.view?.bill.commission(door, t, cents);
    if (door === -1) this.view?.touch(t - DIRECT_BEFORE, this.doors.direct, key);
    this.count(t, cents, () => this.view?.order(t, door, cents, key));
    this.mind.buy(uniform(key, SLOT.join) < shop.joinsList);
    if (uniform(key, ODD.friend) < shop.wordOfMouth)
      agenda.add(t + 12 * gamma2(key, ODD.friend + 1), FRIEND, Math.max(100, Math.round(cents * 0.8)), key);
    const canRemind = this.mind.isOnList && !shop.goods[good]!.isGift;
    this.following.bought(t, key, canRemind ? this.person.cycle[good]! : 0);
  }

  private count(t: number, cents: number, tell: () => void): void {
    if (t < 0) return;
    this.orders++;
    this.cents += cents;
    if (this.span !== null && t >= this.span.fromDay && t < this.span.toDay) {
      this.inHoldout.orders++;
      this.inHoldout.cents += cents;
    }
    tell();
  }
}
