import { makeContact } from './contact.ts';
import { CHANNEL_STATE, STATE, type Engine } from './engine.ts';
import { DRAW } from './person.ts';
import { uniform } from './random.ts';
import { nextNewsletter } from './targeting.ts';
import type { ChannelWorld } from './world.ts';

/** Membership, suppression of buyers, caps, the day's budget and the auction decide on one chance. */
export function listChance(e: Engine, c: number, time: number, key: number): void {
  const channel = e.world.channels[c] as ChannelWorld;
  const since = e.get(c, CHANNEL_STATE.since);
  if (time < since || e.get(c, CHANNEL_STATE.member) <= time || !e.served(c, time)) return;
  if (time - (e.state[STATE.lastOrder] as number) < channel.suppressDays) return;
  const day = Math.floor(time);
  const today = e.get(c, CHANNEL_STATE.capDay) === day ? e.get(c, CHANNEL_STATE.dayCount) : 0;
  if (today >= channel.capPerDay || e.get(c, CHANNEL_STATE.entryCount) >= channel.capPerEntry) return;
  if (e.costs === undefined && time - day >= (e.plan.cutoff[c]?.[day + e.world.burn] ?? 1)) return;
  const decayed = Math.exp((since - time) / channel.bidDecayDays);
  if (uniform(key, DRAW.win) >= e.reach(c, time) * decayed) return;
  e.set(c, CHANNEL_STATE.capDay, day);
  e.set(c, CHANNEL_STATE.dayCount, today + 1);
  e.set(c, CHANNEL_STATE.entryCount, e.get(c, CHANNEL_STATE.entryCount) + 1);
  makeContact(e, c, time, key);
}

/** A cart mail is opened, unless an order came before or the sequence is off. */
export function cartMail(e: Engine, c: number, time: number, key: number): void {
  const sequence = 4;
  if (!e.served(c, time) || time - (e.state[STATE.lastOrder] as number) < sequence) return;
  if (uniform(key, DRAW.win) < e.reach(c, time)) makeContact(e, c, time, key);
}

/** A newsletter is opened, unless the channel is off; the next one is queued either way. */
export function newsletter(e: Engine, n: number, time: number, key: number): void {
  const c = e.roles.newsletter;
  nextNewsletter(e, n + 1);
  if (e.served(c, time) && uniform(key, DRAW.win) < e.reach(c, time)) makeContact(e, c, time, key);
}
