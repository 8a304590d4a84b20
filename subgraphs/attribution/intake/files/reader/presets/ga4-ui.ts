import type { Preset } from './preset.ts';

const DIMENSIONS = [
  'Session source / medium',
  'Session primary channel group (Default Channel Group)',
  'Session primary channel group (Default channel group)',
  'Session default channel group',
  'Session campaign',
  'Session source',
  'Session medium',
  'First user source / medium',
  'First user primary channel group (Default Channel Group)',
  'First user default channel group',
  'First user campaign',
];
const METRICS = [
  'Sessions',
  'Engaged sessions',
  'Total users',
  'Active users',
  'New users',
  'Event count',
  'Key events',
  'Ads cost',
];

/**
 * Tables of Google Analytics 4 as its pages download them. They know no users, so that only what ads cost by day can be
 * stored: the rest is refused with what to export instead.
 * https://support.google.com/analytics/answer/7579450
 */
export const ga4Ui: Preset = {
  name: 'ga4_ui',
  title: 'Google Analytics 4, a report or exploration',
  kind: 'spend',
  signatures: DIMENSIONS.flatMap((dimension) => METRICS.map((metric) => [dimension, metric])),
  forms: [
    {
      columns: {
        date: 'Date',
        channel: ['Session source / medium', 'Session default channel group', 'Session source', 'Session medium'],
        campaign: ['Session campaign', 'Session Google Ads campaign'],
        spend: ['Ads cost', 'Ads cost (*)'],
        impressions: 'Ads impressions',
        clicks: 'Ads clicks',
      },
    },
  ],
  skips: [{ empty: ['Date', ...DIMENSIONS] }],
  instead:
    'For touches and orders, link BigQuery and export its events_ tables (preset ga4_bigquery). For what ads cost, ' +
    'export a Free form exploration with the rows Session source / medium and Date and the value Ads cost.',
};
