import type { Preset } from './preset.ts';

/** Orders that nobody paid; WooCommerce's own reports leave them out, too. */
const UNPAID = ['cancelled', 'failed', 'pending', 'checkout-draft', 'auto-draft', 'trash'];

/**
 * Orders as the extension "Customer / Order / Coupon Export" writes them, one row each. The report of Analytics, Orders
 * is known, too, and refused: it has names of customers, but no ids.
 * https://woocommerce.com/document/ordercustomer-csv-export/
 */
export const woocommerceOrders: Preset = {
  name: 'woocommerce_orders',
  title: 'WooCommerce, orders',
  kind: 'conversions',
  signatures: [
    ['order_number', 'status', 'order_total', 'order_currency'],
    ['Order #', 'N. Revenue (formatted)'],
    ['Order #', 'Net Sales', 'Customer type'],
  ],
  forms: [
    {
      columns: {
        order_id: ['order_number', 'order_id', 'Order #'],
        user_id: ['billing_email', 'customer_email', { column: 'customer_id', unless: ['0'] }],
        timestamp: ['date', 'order_date'],
        revenue: ['order_total', 'Net Sales'],
        refunded: ['refunded_total', 'order_refund'],
        currency: 'order_currency',
        new_customer: 'Customer type',
      },
    },
  ],
  skips: [
    { column: 'status', in: UNPAID },
    { column: 'status', in: UNPAID.map((status) => `wc-${status}`) },
  ],
  instead:
    'Export orders with an extension such as Customer / Order / Coupon Export, with the columns order_number, date, ' +
    'status, order_total, refunded_total, order_currency and billing_email.',
};
