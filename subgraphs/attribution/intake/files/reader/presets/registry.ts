import type { Preset } from './preset.ts';
import { metaAds } from './meta-ads.ts';
import { shopifyOrders } from './shopify-orders.ts';

/** Every export that is known, in the order in which it is looked for. */
export const PRESETS: readonly Preset[] = [shopifyOrders, metaAds];
