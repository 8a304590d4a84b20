import { CHANNEL_STATE, STATE, type Engine } from './engine.ts';
import { DRAW } from './person.ts';
import { EVENT } from './queue.ts';
import { childKey, poisson, uniform } from './random.ts';
import type { ChannelWorld } from './world.ts';

/** A visit or an abandoned cart puts the person on the retargeting lists that wait for it. */
export function joinLists(e: Engine, time: number, cart: boolean): void {
  for (const c of e.roles.lists) {
    const channel = e.world.channels[c] as ChannelWorld;
    if (channel.afterCart !== cart || uniform(e.person.key, DRAW.cookie + c) >= channel.addressable) continue;
    const from = time + (channel.delays[0] as number);
    if (e.get(c, CHANNEL_STATE.member) <= from) e.set(c, CHANNEL_STATE.entryCount, 0);
    e.set(c, CHANNEL_STATE.member, from + channel.membershipDays);
    e.set(c, CHANNEL_STATE.since, from);
    const day = Math.floor(time);
    if (e.get(c, CHANNEL_STATE.listDay) < day) listDay(e, c, time, day);
  }
}

/** A member's chances to be shown an ad on one day: their draws belong to person, channel and day. */
export function listDay(e: Engine, c: number, time: number, day: number): void {
  const channel = e.world.channels[c] as ChannelWorld;
  e.set(c, CHANNEL_STATE.listDay, day);
  if (e.get(c, CHANNEL_STATE.member) <= time) return;
  const key = childKey(childKey(e.person.key, 300 + c), day + 1000);
  const online = e.person.activity[day + e.world.burn] ?? 0;
  const count = poisson(uniform(key, DRAW.offspring), Math.min(6, channel.rate * online));
  for (let k = 0; k < count; k++) {
    const chanceKey = childKey(key, k);
    const at = e.person.onDay(day, uniform(chanceKey, DRAW.hour));
    if (at >= time && at < e.world.days) e.queue.push(at, EVENT.listChance, chanceKey, c);
  }
  if (day + 1 < e.world.days) e.queue.push(day + 1, EVENT.listDay, key, c);
}

/** Mails after an abandoned cart, at fixed delays, to those whose address is known. */
export function planCartMails(e: Engine, time: number, key: number): void {
  for (const c of e.roles.cartMails) {
    const channel = e.world.channels[c] as ChannelWorld;
    const known = (e.state[STATE.customer] as number) === 1 ? 0.9 : channel.addressable;
    if (uniform(e.person.key, DRAW.known) >= known) continue;
    for (let k = 0; k < channel.delays.length; k++) {
      const mailKey = childKey(key, 2000 + 8 * c + k);
      if (uniform(mailKey, DRAW.open) >= channel.openRate) continue;
      // opened some time after it was sent, half of them within an hour
      const at = time + (channel.delays[k] as number) - 0.06 * Math.log(uniform(mailKey, DRAW.time));
      if (at < e.world.days) e.queue.push(at, EVENT.cartMail, mailKey, c);
    }
  }
}

/** The newsletters go to subscribed customers: those of before, and new ones from their first order on. */
export function startNewsletters(e: Engine, time: number): void {
  if (e.roles.newsletter < 0 || !e.person.subscriber || e.state[STATE.mailing] === 1) return;
  e.state[STATE.mailing] = 1;
  const { mailTimes } = e.world;
  let n = 0;
  while (n < mailTimes.length && (mailTimes[n] as number) < time) n++;
  nextNewsletter(e, n);
}

/** Queues the next mail from the `from`-th on that this person opens. */
export function nextNewsletter(e: Engine, from: number): void {
  const c = e.roles.newsletter;
  const { mailTimes } = e.world;
  const opens = (e.world.channels[c] as ChannelWorld).openRate * 2 * uniform(e.person.key, DRAW.open);
  for (let n = from; n < mailTimes.length; n++) {
    const key = childKey(childKey(e.person.key, 90), n);
    if (uniform(key, DRAW.open) >= opens) continue;
    const at = (mailTimes[n] as number) - 0.15 * Math.log(uniform(key, DRAW.time));
    if (at < e.world.days) e.queue.push(at, EVENT.newsletter, key, n);
    return;
  }
}
