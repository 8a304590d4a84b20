import type { Preset } from './preset.ts';

/** Payments that came to nothing, or not yet. */
const UNPAID = [
  'failed',
  'canceled',
  'cancelled',
  'blocked',
  'expired',
  'incomplete',
  'pending',
  'uncaptured',
  'requires_action',
  'requires_capture',
  'requires_confirmation',
  'requires_payment_method',
];

/**
 * Payments as the dashboard exports them. What was paid in another currency counts as Stripe converted it.
 * https://docs.stripe.com/payments/dashboard#export
 */
export const stripePayments: Preset = {
  name: 'stripe_payments',
  title: 'Stripe, payments',
  kind: 'conversions',
  signatures: [
    ['id', 'Created date (UTC)', 'Amount', 'Currency', 'Status'],
    ['id', 'Created (UTC)', 'Amount', 'Currency', 'Status'],
  ],
  forms: [
    {
      columns: {
        order_id: 'id',
        user_id: ['Customer Email', 'Customer ID'],
        timestamp: ['Created date (UTC)', 'Created (UTC)'],
        revenue: ['Converted Amount', 'Amount'],
        refunded: ['Converted Amount Refunded', 'Amount Refunded'],
        currency: ['Converted Currency', 'Currency'],
      },
    },
  ],
  skips: [
    { column: 'Status', in: UNPAID },
    { column: 'Captured', in: ['false'] },
  ],
  timeZone: 'UTC',
  instead: 'Export it with Payments > Export and the column Customer Email or Customer ID.',
};
