import type { Plan } from '../simulator.ts';
import { drawCalendar, reachAt } from './calendar.ts';
import type { Calendar } from './calendar.ts';
import type { ChannelKind, ChannelModel, ShopModel } from './model.ts';

/** Codes of channel kinds in the tables. */
export const KIND: Readonly<Record<ChannelKind, number>> = {
  broadcast: 0,
  retargeting: 1,
  list: 2,
  search_ad: 3,
  brand_door: 4,
  coupon_door: 5,
  unpaid: 6,
};

/** The channels' parameters by column, for the inner loops. */
export interface ChannelTable {
  readonly count: number;
  readonly kind: Uint8Array;
  /** 1 = the shop's files can hold its touches; views = also those without a click */
  readonly tracked: Uint8Array;
  readonly views: Uint8Array;
  readonly inMarketBoost: Float64Array;
  readonly clickRate: Float64Array;
  readonly doorUse: Float64Array;
  readonly haloVisitRate: Float64Array;
  readonly awareness: Float64Array;
  readonly slowRetention: Float64Array;
  readonly utility: Float64Array;
  readonly freshRetention: Float64Array;
  readonly needStimulus: Float64Array;
  readonly considerGain: Float64Array;
  readonly organicSubstitution: Float64Array;
  /** indices by kind: met by habit or reaction, search ads */
  readonly contact: Uint8Array;
  readonly searchAds: Uint8Array;
  /** index or -1 */
  readonly brandDoor: number;
  readonly couponDoor: number;
  readonly couponDiscount: number;
  readonly direct: number;
  readonly organicSearch: number;
  readonly organicSocial: number;
}

/** A shop with its calendar and tables; `needInterval` is settled by the pilot run. */
export interface World {
  readonly shop: ShopModel;
  readonly calendar: Calendar;
  readonly table: ChannelTable;
  /** per channel and day: chance or rate of contact as things are */
  readonly usualReach: Float64Array;
  needInterval: number;
}

function buildTable(channels: readonly ChannelModel[]): ChannelTable {
  const column = (value: (channel: ChannelModel) => number): Float64Array => Float64Array.from(channels.map(value));
  const bytes = (value: (channel: ChannelModel) => number): Uint8Array => Uint8Array.from(channels.map(value));
  const named = (name: string): number => channels.findIndex((channel) => channel.name === name);
  const indices = (kinds: readonly ChannelKind[]): Uint8Array =>
    Uint8Array.from(channels.flatMap((channel, c) => (kinds.includes(channel.kind) ? [c] : [])));
  return {
    count: channels.length,
    kind: bytes((channel) => KIND[channel.kind]),
    tracked: bytes((channel) => (channel.tracked ? 1 : 0)),
    views: bytes((channel) => (channel.viewsSeen ? 1 : 0)),
    inMarketBoost: column((channel) => channel.inMarketBoost),
    clickRate: column((channel) => channel.clickRate),
    doorUse: column((channel) => channel.doorUse),
    haloVisitRate: column((channel) => channel.haloVisitRate),
    awareness: column((channel) => channel.awareness),
    slowRetention: column((channel) => channel.slowRetention),
    utility: column((channel) => channel.utility),
    freshRetention: column((channel) => channel.freshRetention),
    needStimulus: column((channel) => channel.needStimulus),
    considerGain: column((channel) => channel.considerGain),
    organicSubstitution: column((channel) => channel.organicSubstitution),
    contact: indices(['broadcast', 'retargeting', 'list']),
    searchAds: indices(['search_ad']),
    brandDoor: channels.findIndex((channel) => channel.kind === 'brand_door'),
    couponDoor: channels.findIndex((channel) => channel.kind === 'coupon_door'),
    couponDiscount: channels.find((channel) => channel.kind === 'coupon_door')?.discount ?? 0,
    direct: named('direct'),
    organicSearch: named('organic_search'),
    organicSocial: named('organic_social'),
  };
}

/** Reach per channel and day under a plan's factors on spend; the burn-in is as things are. */
export function reachUnder(shop: ShopModel, calendar: Calendar, factors: Plan['spend']): Float64Array {
  const reach = new Float64Array(shop.channels.length * calendar.total);
  shop.channels.forEach((channel, c) => {
    const factor = factors?.[channel.name] ?? 1;
    for (let at = 0; at < calendar.total; at++) {
      const budget = (calendar.budget[c * calendar.total + at] ?? 0) * (at < shop.burnInDays ? 1 : factor);
      reach[c * calendar.total + at] = channel.reach * reachAt(budget, channel.halfSaturation);
    }
  });
  return reach;
}

/** Builds the world of a shop before its pilot run. */
export function buildWorld(shop: ShopModel): World {
  const calendar = drawCalendar(shop);
  return {
    shop,
    calendar,
    table: buildTable(shop.channels),
    usualReach: reachUnder(shop, calendar, {}),
    needInterval: shop.needIntervalDays,
  };
}
