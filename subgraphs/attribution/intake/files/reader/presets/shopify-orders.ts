import type { Preset } from './preset.ts';

/**
 * Orders as the admin exports them: one row for each line item, of which only the first carries the order's sums.
 * https://help.shopify.com/en/manual/fulfillment/managing-orders/exporting-orders
 */
export const shopifyOrders: Preset = {
  name: 'shopify_orders',
  title: 'Shopify, orders export',
  kind: 'conversions',
  signatures: [['Name', 'Financial Status', 'Created at', 'Lineitem quantity', 'Total']],
  forms: [
    {
      columns: {
        order_id: 'Name',
        user_id: ['Email', 'Phone'],
        timestamp: 'Created at',
        revenue: 'Total',
        refunded: 'Refunded Amount',
        currency: 'Currency',
      },
    },
  ],
  skips: [
    { empty: ['Total', 'Financial Status'] },
    { column: 'Financial Status', in: ['voided', 'pending', 'authorized', 'expired'] },
  ],
  instead: 'Export it with Orders > Export > Plain CSV file.',
};
