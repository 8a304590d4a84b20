import type { Agenda } from './agenda.ts';
import { CONTACT } from './agenda.ts';
import type { Shop } from './model.ts';
import { exponential, keyOf } from './random.ts';

/** Ads that follow visitors leave buyers alone for as long. */
const SPARED_DAYS = 10;
/** Visitors see an ad of a channel that follows them once a day at most. */
const CAP_DAYS = 1;
/** Of a cycle: when a mail reminds of what should run out soon. */
const REMINDER = 0.9;
const GAP_SLOT = 30;

/** Ads and mails that a person's own visits and orders set off. */
export class Following {
  private readonly shop: Shop;
  private readonly agenda: Agenda;
  private readonly reactive: readonly number[];
  private readonly lastShown: Float64Array;
  private lastOrderAt = -Infinity;

  constructor(shop: Shop, agenda: Agenda) {
    this.shop = shop;
    this.agenda = agenda;
    this.reactive = shop.channels.flatMap(({ role }, c) => (role === 'retargeting' || role === 'flows' ? [c] : []));
    this.lastShown = new Float64Array(shop.channels.length);
  }

  enter(): void {
    this.lastShown.fill(-Infinity);
    this.lastOrderAt = -Infinity;
  }

  /** Visitors are shown ads and, if the shop has their address, sent mails in the days after. */
  visited(t: number, key: number, isOnList: boolean): void {
    for (const c of this.reactive) {
      const { role, contacts, delayDays } = this.shop.channels[c]!;
      if (role === 'flows' && !isOnList) continue;
      let at = t;
      for (let n = 0; n < contacts; n++) {
        const contactKey = keyOf(key, 400 + 8 * c + n);
        at += delayDays * exponential(contactKey, GAP_SLOT);
        this.agenda.add(at, CONTACT, c, contactKey);
      }
    }
  }

  /** @param cycle of what was bought, for a reminder; 0 = it does not run out, or there is no address */
  bought(t: number, key: number, cycle: number): void {
    this.lastOrderAt = t;
    if (cycle === 0) return;
    for (const c of this.reactive) {
      if (this.shop.channels[c]!.role === 'flows')
        this.agenda.add(t + REMINDER * cycle, CONTACT, c, keyOf(key, 700 + c));
    }
  }

  /** Whether a contact that was set off still takes place. */
  allows(c: number, t: number): boolean {
    const { role, keepsOn } = this.shop.channels[c]!;
    if (role === 'prospecting') return true;
    if (!keepsOn && t - this.lastOrderAt < SPARED_DAYS) return false;
    if (t - this.lastShown[c]! < CAP_DAYS) return false;
    this.lastShown[c] = t;
    return true;
  }
}
