import { CHANNEL_STATE, type Engine } from './engine.ts';
import { synergyFactor } from './contact.ts';
import { DRAW } from './person.ts';
import { uniform } from './random.ts';
import { ORGANIC_SEARCH } from './roles.ts';
import { session } from './session.ts';
import type { ChannelWorld } from './world.ts';

/** Door of a visit that happens anyway; -1 where the person is lost to a competitor who bids on the shop's name. */
function chooseDoor(e: Engine, time: number, key: number): number {
  const { world, roles } = e;
  for (const c of roles.doors) {
    const channel = world.channels[c] as ChannelWorld;
    if (time - e.get(c, CHANNEL_STATE.lastContact) > channel.hijackDays || !e.served(c, time)) continue;
    if (uniform(key, DRAW.hijack + c) < channel.hijack) return markDoor(e, c, time);
  }
  if (uniform(key, DRAW.navigate) < world.navigationalShare) return navigate(e, time, key);
  let left = uniform(key, DRAW.door) * roles.unpaidTotal;
  for (const c of roles.unpaid) {
    left -= (world.channels[c] as ChannelWorld).share;
    if (left < 0) return c;
  }
  return ORGANIC_SEARCH;
}

/** A click on an ad that was paid for as a contact costs nothing more, but is the channel's. */
function markDoor(e: Engine, c: number, time: number): number {
  if (time >= 0) e.met |= 1 << c;
  return c;
}

/** A search for the shop's name: ad first, the result below it otherwise (Blake, Nosko & Tadelis 2015). */
function navigate(e: Engine, time: number, key: number): number {
  const c = e.roles.navigational;
  if (c < 0 || uniform(key, DRAW.adClick) >= e.world.brandAdShare) return ORGANIC_SEARCH;
  if (e.served(c, time) && uniform(key, DRAW.slot) < e.reach(c, time)) {
    e.pay(c, time, key);
    return c;
  }
  const channel = e.world.channels[c] as ChannelWorld;
  return channel.kind === 'brand' && uniform(key, DRAW.lost) < channel.lostShare ? -1 : ORGANIC_SEARCH;
}

/** A person of their own accord comes to the site. */
export function ownVisit(e: Engine, time: number, key: number): void {
  const annoyance = e.annoyance(time);
  if (annoyance > 0 && uniform(key, DRAW.accept) >= Math.exp(-0.7 * annoyance)) return;
  const door = chooseDoor(e, time, key);
  if (door >= 0) session(e, time, key, door, 1, false);
}

/** A person comes to order, if the wish still holds by then. */
export function ownOrder(e: Engine, time: number, key: number): void {
  if (uniform(key, DRAW.accept) >= e.orderFactor(time) / e.roles.highestOrderFactor) return;
  const door = chooseDoor(e, time, key);
  if (door >= 0) session(e, time, key, door, 1, true);
}

/**
 * A search for what the shop sells. One channel has the ad slot; of those whom its ad serves, a part would have come by
 * the result below it, the rest would have gone elsewhere.
 */
export function genericSearch(e: Engine, time: number, key: number): void {
  const { world } = e;
  let left = uniform(key, DRAW.slot);
  for (const c of e.roles.searches) {
    const channel = world.channels[c] as ChannelWorld;
    left -= channel.share;
    if (left >= 0) continue;
    if (uniform(key, DRAW.adClick) >= world.searchAdClick) break;
    if (e.served(c, time) && uniform(key, DRAW.win) < e.reach(c, time)) {
      e.pay(c, time, key);
      session(e, time, key, c, synergyFactor(e, c, time), false);
    } else if (uniform(key, DRAW.lost) >= 1 - Math.pow(1 - channel.lostShare, world.effectScale)) {
      session(e, time, key, ORGANIC_SEARCH, 1, false);
    }
    return;
  }
  if (uniform(key, DRAW.click) < world.searchResultClick) session(e, time, key, ORGANIC_SEARCH, 1, false);
}
