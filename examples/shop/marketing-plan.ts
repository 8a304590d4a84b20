/**
 * What the shop "Tarn & Thistle Outfitters" (invented) does to be found, and what it truly achieves.
 * The effects are facts of this small world: no model is told them, `truth.json` states their consequence.
 */
export interface Channel {
  readonly name: string;
  readonly source: string;
  readonly medium: string;
  readonly campaigns: readonly string[];
  /**
   * Expected extra orders that one touch causes in an average shopper, over its whole ad-stock; 0 for unpaid visits.
   */
  readonly ordersPerTouch: number;
  /** Ad-stock: days until half of a touch's pull is gone. */
  readonly halfLifeDays: number;
  readonly costPerTouch: number;
  /** Share of touches that are clicks; the others are views. */
  readonly clickShare: number;
  /**
   * Impressions the ad platform reports per touch that could be tied to a shopper; 0 where there are none to report.
   */
  readonly impressionsPerTouch: number;
}

const unpaid = { ordersPerTouch: 0, halfLifeDays: 1, costPerTouch: 0, clickShare: 1, impressionsPerTouch: 0 };

export const CHANNELS = [
  { name: 'direct', source: '(direct)', medium: '(none)', campaigns: [''], ...unpaid },
  { name: 'organic_search', source: 'google', medium: 'organic', campaigns: [''], ...unpaid },
  {
    name: 'brand_search',
    source: 'google',
    medium: 'cpc',
    campaigns: ['brand_exact', 'brand_plus_category'],
    ordersPerTouch: 0.004,
    halfLifeDays: 1,
    costPerTouch: 0.42,
    clickShare: 1,
    impressionsPerTouch: 3,
  },
  {
    name: 'paid_search',
    source: 'bing',
    medium: 'cpc',
    campaigns: ['generic_tents', 'generic_boots', 'generic_rainwear'],
    ordersPerTouch: 0.05,
    halfLifeDays: 2,
    costPerTouch: 1.35,
    clickShare: 1,
    impressionsPerTouch: 22,
  },
  {
    name: 'google_ads',
    source: 'google',
    medium: 'shopping',
    campaigns: ['pmax_bestsellers', 'pmax_new_arrivals', 'shopping_sale'],
    ordersPerTouch: 0.042,
    halfLifeDays: 2.5,
    costPerTouch: 1.05,
    clickShare: 0.8,
    impressionsPerTouch: 60,
  },
  {
    name: 'meta_ads',
    source: 'facebook',
    medium: 'paid_social',
    campaigns: ['prospecting_hikers', 'prospecting_families', 'video_basecamp'],
    ordersPerTouch: 0.016,
    halfLifeDays: 3.5,
    costPerTouch: 0.44,
    clickShare: 0.3,
    impressionsPerTouch: 14,
  },
  {
    name: 'display',
    source: 'programmatic',
    medium: 'display',
    campaigns: ['awareness_outdoors', 'awareness_travel'],
    ordersPerTouch: 0.004,
    halfLifeDays: 3,
    costPerTouch: 0.3,
    clickShare: 0.06,
    impressionsPerTouch: 30,
  },
  {
    name: 'retargeting',
    source: 'criteo',
    medium: 'display',
    campaigns: ['viewed_product', 'abandoned_cart'],
    ordersPerTouch: 0.003,
    halfLifeDays: 1,
    costPerTouch: 0.21,
    clickShare: 0.22,
    impressionsPerTouch: 9,
  },
  {
    name: 'influencer',
    source: 'instagram',
    medium: 'influencer',
    campaigns: ['trail_diaries', 'weekend_cabin'],
    ordersPerTouch: 0.034,
    halfLifeDays: 4,
    costPerTouch: 0.8,
    clickShare: 0.5,
    impressionsPerTouch: 12,
  },
  {
    name: 'email',
    source: 'newsletter',
    medium: 'email',
    campaigns: ['weekly_letter', 'back_in_stock'],
    ordersPerTouch: 0.012,
    halfLifeDays: 1.5,
    costPerTouch: 0.03,
    clickShare: 0.35,
    impressionsPerTouch: 0,
  },
  {
    // Coupon pages: they find those who are already at the till, and move nobody.
    name: 'affiliate',
    source: 'coupon_portal',
    medium: 'affiliate',
    campaigns: ['coupon_codes', 'cashback'],
    ordersPerTouch: 0,
    halfLifeDays: 1,
    costPerTouch: 0.55,
    clickShare: 1,
    impressionsPerTouch: 0,
  },
] as const satisfies readonly Channel[];

export type ChannelName = (typeof CHANNELS)[number]['name'];

const INDEX = new Map<string, number>(CHANNELS.map((channel, index) => [channel.name, index]));

/** Position of a channel in `CHANNELS`. */
export function channelIndex(name: ChannelName): number {
  return INDEX.get(name)!;
}

/** Whether the channel is marketing: all that costs money. The unpaid visits would come without it. */
export function isPaid(channel: number): boolean {
  return CHANNELS[channel]!.costPerTouch > 0;
}

/** How people in the market reach the shop, the last visit before an order included. The sum is 1. */
export const VISIT_MIX: readonly (readonly [channel: number, share: number])[] = [
  [channelIndex('direct'), 0.37],
  [channelIndex('organic_search'), 0.3],
  [channelIndex('brand_search'), 0.19],
  [channelIndex('affiliate'), 0.08],
  [channelIndex('paid_search'), 0.06],
];
