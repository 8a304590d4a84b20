import { CHANNEL_STATE, type Engine } from './engine.ts';
import { DRAW } from './person.ts';
import { EVENT } from './queue.ts';
import { childKey, uniform } from './random.ts';
import { session } from './session.ts';
import type { ChannelWorld } from './world.ts';

/** What earlier contacts with other channels add to one with this. */
export function synergyFactor(e: Engine, c: number, time: number): number {
  let factor = 1;
  for (const { from, strength } of e.roles.synergies[c] ?? []) {
    factor += strength * (1 - Math.exp(-e.stock(from, time)));
  }
  return factor;
}

/**
 * A person meets an ad or opens a mail. It excites own visits, searches and orders (mutually exciting point processes:
 * Xu, Duan & Whinston 2014), less the more contacts there were lately; too many of them annoy, which inhibits.
 */
export function makeContact(e: Engine, c: number, time: number, key: number): void {
  const { world, person } = e;
  const channel = world.channels[c] as ChannelWorld;
  e.pay(c, time, key);
  const stock = e.stock(c, time);
  e.set(c, CHANNEL_STATE.lastContact, time);
  e.set(c, CHANNEL_STATE.stock, stock + 1);
  e.set(c, CHANNEL_STATE.stockAt, time);
  if (channel.annoyance > 0 && stock > channel.tolerance) e.annoy(time, channel.annoyance);
  const inNeed = person.inEpisode(time);
  const gain =
    (channel.strength *
      world.effectScale *
      person.susceptibility *
      synergyFactor(e, c, time) *
      (inNeed ? 1 + world.episodeGain : 1)) /
    (1 + stock / channel.halfFrequency);
  const clicked = uniform(key, DRAW.click) < channel.clickRate * (inNeed ? 1.5 : 1);
  if (clicked) session(e, time, childKey(key, 7), c, channel.clickQuality * Math.min(1.5, gain), false);
  else if (e.rows !== undefined && uniform(key, DRAW.view) < channel.viewSeen) e.rows.touch(person, time, key, c);
  if (gain === 0) return;
  e.spawn(EVENT.visit, time, key, 1, channel.visitMean * gain, channel.kernel);
  e.spawn(EVENT.search, time, key, 2, channel.searchMean * gain, channel.kernel);
  e.spawn(EVENT.order, time, key, 3, channel.orderMean * gain * e.roles.highestOrderFactor, channel.kernel);
}
