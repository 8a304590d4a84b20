import { appsflyer } from './appsflyer.ts';
import { ga4BigQuery } from './ga4-bigquery.ts';
import { ga4Ui } from './ga4-ui.ts';
import { googleAds } from './google-ads.ts';
import { klaviyoCampaigns } from './klaviyo-campaigns.ts';
import { metaAds } from './meta-ads.ts';
import { microsoftAds } from './microsoft-ads.ts';
import type { Preset } from './preset.ts';
import { segment } from './segment.ts';
import { shopifyOrders } from './shopify-orders.ts';
import { stripePayments } from './stripe-payments.ts';
import { tiktokAds } from './tiktok-ads.ts';
import { woocommerceOrders } from './woocommerce-orders.ts';

/** Every export that is known, in the order in which it is looked for. */
export const PRESETS: readonly Preset[] = [
  shopifyOrders,
  metaAds,
  googleAds,
  tiktokAds,
  microsoftAds,
  klaviyoCampaigns,
  woocommerceOrders,
  stripePayments,
  ga4BigQuery,
  ga4Ui,
  segment,
  appsflyer,
];
