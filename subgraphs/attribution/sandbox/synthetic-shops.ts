/**
 * The invented shops behind the sandbox sources. Their effects are facts of these small worlds: no model is told them.
 * All numbers are whole, so that the engine computes the same rows on every machine.
 */
export interface SyntheticChannel {
  readonly name: string;
  readonly source: string;
  readonly medium: string;
  /** Empty for unpaid visits. */
  readonly campaigns: readonly string[];
  /** Touches per million people and day, whether they want to buy or not. */
  readonly reach: number;
  /**
   * Visits by this channel per million chances of people who want to buy anyway: the selection that flatters last
   * click.
   */
  readonly pull: number;
  /** Orders that a million touches cause. */
  readonly causes: number;
  readonly clicksPerMille: number;
  readonly centsPerTouch: number;
  /** What the ad platform reports; 0 where there is nothing to report. */
  readonly impressionsPerTouch: number;
}

export interface SyntheticShop {
  /** Public id of the source. */
  readonly id: string;
  /** Orders that come with a refund, per mille; what is refunded is taken off their revenue. */
  readonly refundsPerMille: number;
  readonly channels: readonly SyntheticChannel[];
}

const unpaid = { campaigns: [], causes: 0, clicksPerMille: 1000, centsPerTouch: 0, impressionsPerTouch: 0 };

const CHANNELS = {
  direct: { name: 'direct', source: '(direct)', medium: '(none)', reach: 15_000, pull: 150_000, ...unpaid },
  organicSearch: {
    name: 'organic_search',
    source: 'google',
    medium: 'organic',
    reach: 13_000,
    pull: 130_000,
    ...unpaid,
  },
  referral: {
    name: 'referral',
    source: 'outdoor-forum.example',
    medium: 'referral',
    campaigns: ['forum', 'review_sites'],
    reach: 4_000,
    pull: 9_000,
    causes: 14_000,
    clicksPerMille: 1000,
    centsPerTouch: 18,
    impressionsPerTouch: 0,
  },
  email: {
    name: 'email',
    source: 'newsletter',
    medium: 'email',
    campaigns: ['weekly_letter', 'back_in_stock', 'welcome_series'],
    reach: 11_000,
    pull: 12_000,
    causes: 34_000,
    clicksPerMille: 420,
    centsPerTouch: 7,
    impressionsPerTouch: 0,
  },
  sms: {
    name: 'sms',
    source: 'text',
    medium: 'sms',
    campaigns: ['flash_sale', 'delivery_day'],
    reach: 4_500,
    pull: 5_000,
    causes: 26_000,
    clicksPerMille: 300,
    centsPerTouch: 22,
    impressionsPerTouch: 0,
  },
  affiliate: {
    name: 'affiliate',
    source: 'coupon_portal',
    medium: 'affiliate',
    campaigns: ['coupon_codes', 'cashback'],
    reach: 900,
    pull: 42_000,
    causes: 3_000,
    clicksPerMille: 1000,
    centsPerTouch: 64,
    impressionsPerTouch: 0,
  },
  paidSearch: {
    name: 'paid_search',
    source: 'bing',
    medium: 'cpc',
    campaigns: ['generic_tents', 'generic_boots', 'generic_rainwear'],
    reach: 7_500,
    pull: 34_000,
    causes: 46_000,
    clicksPerMille: 1000,
    centsPerTouch: 112,
    impressionsPerTouch: 21,
  },
  googleAds: {
    name: 'google_ads',
    source: 'google',
    medium: 'cpc',
    campaigns: ['brand', 'shopping_bestsellers', 'pmax_new_arrivals', 'video_how_to_pitch'],
    reach: 10_000,
    pull: 40_000,
    causes: 40_000,
    clicksPerMille: 820,
    centsPerTouch: 94,
    impressionsPerTouch: 48,
  },
  metaAds: {
    name: 'meta_ads',
    source: 'facebook',
    medium: 'paid_social',
    campaigns: ['prospecting_hikers', 'prospecting_families', 'lookalike_buyers', 'retargeting_viewers'],
    reach: 17_000,
    pull: 22_000,
    causes: 28_000,
    clicksPerMille: 310,
    centsPerTouch: 71,
    impressionsPerTouch: 13,
  },
  paidSocial: {
    name: 'paid_social',
    source: 'tiktok',
    medium: 'paid_social',
    campaigns: ['creators', 'spark_reviews'],
    reach: 12_000,
    pull: 8_000,
    causes: 20_000,
    clicksPerMille: 240,
    centsPerTouch: 60,
    impressionsPerTouch: 19,
  },
  display: {
    name: 'display',
    source: 'programmatic',
    medium: 'display',
    campaigns: ['awareness_outdoors', 'awareness_travel'],
    reach: 9_000,
    pull: 18_000,
    causes: 5_000,
    clicksPerMille: 60,
    centsPerTouch: 33,
    impressionsPerTouch: 31,
  },
} as const satisfies Readonly<Record<string, SyntheticChannel>>;

const { direct, organicSearch, referral, email, sms, affiliate, paidSearch, googleAds, metaAds, paidSocial, display } =
  CHANNELS;

/** One per type of source; each sees the channels that a source of its type would see. */
export const SYNTHETIC_SHOPS: readonly SyntheticShop[] = [
  {
    id: 'ds_sandbox_ga4',
    refundsPerMille: 0,
    channels: [direct, organicSearch, referral, email, paidSearch, paidSocial, display],
  },
  {
    id: 'ds_sandbox_shopify',
    refundsPerMille: 35,
    channels: [direct, organicSearch, email, sms, affiliate, googleAds, metaAds],
  },
  { id: 'ds_sandbox_meta_ads', refundsPerMille: 0, channels: [direct, organicSearch, email, metaAds] },
  { id: 'ds_sandbox_google_ads', refundsPerMille: 0, channels: [direct, organicSearch, email, googleAds] },
  {
    id: 'ds_sandbox_csv_upload',
    refundsPerMille: 0,
    channels: [
      direct,
      organicSearch,
      referral,
      email,
      sms,
      affiliate,
      paidSearch,
      googleAds,
      metaAds,
      paidSocial,
      display,
    ],
  },
];
