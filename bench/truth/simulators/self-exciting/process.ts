import { auctionOdds } from './auction.ts';
import { makeContact } from './contact.ts';
import { STATE, type Engine } from './engine.ts';
import { drawEpisodes, intentChances, keptByDemand } from './immigrants.ts';
import { cartMail, listChance, newsletter } from './list-contacts.ts';
import { genericSearch, ownOrder, ownVisit } from './own-events.ts';
import { DRAW, type ChanceSink } from './person.ts';
import { EVENT } from './queue.ts';
import { childKey, uniform } from './random.ts';
import { listDay, startNewsletters } from './targeting.ts';
import type { ChannelWorld } from './world.ts';

/** Queues what comes from outside: visits without cause, episodes of need, chances to be seen, newsletters. */
export class Arrivals implements ChanceSink {
  private readonly engine: Engine;
  private channel = -1;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  queueAll(): void {
    const e = this.engine;
    const { world, person } = e;
    drawEpisodes(world, person);
    this.channel = -1;
    const rate = world.backgroundVisits * world.baseScale * e.roles.highestDemand * person.interest;
    person.process(childKey(person.key, 2), rate, this);
    const kernel = { power: false, scale: 1, shape: 1 };
    for (let i = 0; i < person.episodes; i++) {
      const key = childKey(childKey(person.key, 3), i);
      const start = person.episodeStart[i] as number;
      kernel.scale = ((person.episodeEnd[i] as number) - start) / 2;
      e.spawn(EVENT.visit, start, key, 1, world.episodeVisits, kernel);
      e.spawn(EVENT.search, start, key, 2, world.episodeSearches, kernel);
      e.spawn(EVENT.order, start, key, 3, world.episodeOrders * e.roles.highestOrderFactor, kernel);
    }
    for (const c of e.roles.seen) {
      this.channel = c;
      const channel = world.channels[c] as ChannelWorld;
      person.process(childKey(person.key, 100 + c), channel.rate, this);
      if (channel.intentRate > 0) intentChances(world, person, c, this);
    }
    if ((e.state[STATE.customer] as number) === 1) startNewsletters(e, -world.burn);
  }

  chance(time: number, key: number): void {
    const e = this.engine;
    if (this.channel < 0) {
      if (keptByDemand(e.world, time, key)) e.queue.push(time, EVENT.visit, key, 0);
      return;
    }
    const c = this.channel;
    const u = uniform(key, DRAW.win);
    const day = Math.floor(time) + e.world.burn;
    if ((e.world.channels[c] as ChannelWorld).kind === 'broadcast') {
      const strength = (e.world.flights[day] as number) * e.reach(c, time);
      if (u < strength) e.queue.push(time, EVENT.contact, key, c);
      return;
    }
    if (time - Math.floor(time) >= ((e.plan.cutoff[c] as Float64Array)[day] as number)) return;
    const odds = auctionOdds(e.world, c, e.person, time, key, time < 0 ? 1 : (e.plan.bid[c] as number));
    if (u * (1 + odds) < odds) e.queue.push(time, EVENT.contact, key, c);
  }
}

/** Takes the person's events in order of time until `end`. */
export function runUntil(e: Engine, end: number): void {
  const { queue } = e;
  while (queue.next() < end) {
    queue.pop();
    const { time, kind, key, argument } = queue;
    switch (kind) {
      case EVENT.visit:
        ownVisit(e, time, key);
        break;
      case EVENT.search:
        genericSearch(e, time, key);
        break;
      case EVENT.order:
        ownOrder(e, time, key);
        break;
      case EVENT.contact:
        prospect(e, argument, time, key);
        break;
      case EVENT.listDay:
        listDay(e, argument, time, Math.floor(time));
        break;
      case EVENT.listChance:
        listChance(e, argument, time, key);
        break;
      case EVENT.newsletter:
        newsletter(e, argument, time, key);
        break;
      default:
        cartMail(e, argument, time, key);
    }
  }
}

/** An auction is won; recent buyers are taken out before the ad is shown, and not paid for. */
function prospect(e: Engine, c: number, time: number, key: number): void {
  if (!e.served(c, time)) return;
  const channel = e.world.channels[c] as ChannelWorld;
  if (time - (e.state[STATE.lastOrder] as number) >= channel.suppressDays) makeContact(e, c, time, key);
}
