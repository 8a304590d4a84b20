import type { Preset, PresetColumn } from './preset.ts';

/** What the export writes where it knows nothing. */
const UNKNOWN = ['(not set)', '(data not available)', 'null'];
const known = (column: string): PresetColumn => ({ column, unless: UNKNOWN });

const USER = ['user_pseudo_id', 'user_id'];
const SESSION = ['event_params.ga_session_id', 'ga_session_id', 'session_id'];
/** As Google attributes the session: `traffic_source` would be that of the user's first visit. */
const LAST_CLICK = 'session_traffic_source_last_click';
const COLLECTED = 'collected_traffic_source';

const ORDER = [known('ecommerce.transaction_id'), known('event_params.transaction_id'), known('transaction_id')];
const REFUNDED = ['ecommerce.refund_value', 'event_params.value', 'refund_value', 'event_value'];
const CURRENCY = ['event_params.currency', 'currency'];

const touch = {
  columns: {
    user_id: USER,
    timestamp: 'event_timestamp',
    source: [
      known(`${LAST_CLICK}.cross_channel_campaign.source`),
      known(`${LAST_CLICK}.manual_campaign.source`),
      known(`${COLLECTED}.manual_source`),
      known('event_params.source'),
      known('session_source'),
      known('source'),
      { column: `${COLLECTED}.gclid`, filledMeans: 'google' },
      { constant: '(direct)' },
    ],
    medium: [
      known(`${LAST_CLICK}.cross_channel_campaign.medium`),
      known(`${LAST_CLICK}.manual_campaign.medium`),
      known(`${COLLECTED}.manual_medium`),
      known('event_params.medium'),
      known('session_medium'),
      known('medium'),
      { column: `${COLLECTED}.gclid`, filledMeans: 'cpc' },
      { constant: '(none)' },
    ],
    campaign: [
      known(`${LAST_CLICK}.cross_channel_campaign.campaign_name`),
      known(`${LAST_CLICK}.google_ads_campaign.campaign_name`),
      known(`${LAST_CLICK}.manual_campaign.campaign_name`),
      known(`${COLLECTED}.manual_campaign_name`),
      known('event_params.campaign'),
      known('session_campaign'),
      known('campaign'),
    ],
    gclid: [`${COLLECTED}.gclid`, 'event_params.gclid'],
    referrer: 'event_params.page_referrer',
  },
  constants: { conversion: '0' },
} as const;

/**
 * Events of Google Analytics 4 as they lie in BigQuery, as NDJSON or flattened to CSV. A session is one touch, when its
 * first event happened; a purchase is a conversion, which refunds of the same file lower.
 * https://support.google.com/analytics/answer/7029846
 */
export const ga4BigQuery: Preset = {
  name: 'ga4_bigquery',
  title: 'Google Analytics 4, events from BigQuery',
  kind: 'events',
  signatures: [['event_name', 'event_timestamp', 'user_pseudo_id']],
  forms: [
    { ...touch, when: [{ filled: SESSION }], oncePer: [USER, SESSION] },
    { ...touch, when: [{ column: 'event_name', in: ['session_start'] }, { lacks: SESSION }] },
    {
      columns: {
        user_id: USER,
        timestamp: 'event_timestamp',
        order_id: ORDER,
        revenue: ['ecommerce.purchase_revenue', 'event_params.value', 'purchase_revenue', 'event_value'],
        currency: CURRENCY,
      },
      constants: { conversion: '1' },
      when: [{ column: 'event_name', in: ['purchase'] }],
    },
    {
      columns: {
        user_id: USER,
        timestamp: 'event_timestamp',
        order_id: ORDER,
        revenue: { column: 'event_name', filledMeans: '0' },
        refunded: REFUNDED,
        currency: CURRENCY,
      },
      constants: { conversion: '1' },
      when: [{ column: 'event_name', in: ['refund'] }],
      needsOrder: true,
    },
  ],
  pairs: [['user_pseudo_id', known('user_id')]],
  timeZone: 'UTC',
  instead:
    'Export the events_ tables with event_name, event_timestamp, user_pseudo_id, event_params and ' +
    'session_traffic_source_last_click.',
};
