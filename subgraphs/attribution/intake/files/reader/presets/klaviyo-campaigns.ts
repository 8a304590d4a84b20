import type { Preset } from './preset.ts';

/**
 * Campaigns by the time they were sent. They cost nothing that Klaviyo would know; its own `Revenue` is its attribution
 * and is left out.
 * https://help.klaviyo.com/hc/en-us/articles/115005077887
 */
export const klaviyoCampaigns: Preset = {
  name: 'klaviyo_campaigns',
  title: 'Klaviyo, campaign performance',
  kind: 'spend',
  signatures: [
    ['Campaign Name', 'Send Time', 'Total Recipients'],
    ['Campaign Name', 'Send Time', 'Unique Opens'],
    ['Campaign Name', 'Total Recipients', 'Unique Opens', 'Spam Complaints'],
  ],
  forms: [
    {
      columns: {
        date: ['Send Time', 'Send Date'],
        campaign: 'Campaign Name',
        channel: [
          { column: 'Campaign Channel', as: { email: 'email', sms: 'sms', 'mobile push': 'mobile_push' } },
          { constant: 'email' },
        ],
        impressions: ['Successful Deliveries', 'Total Recipients'],
        clicks: 'Total Clicks',
      },
      constants: { spend: '0' },
    },
  ],
  skips: [{ empty: ['Send Time', 'Send Date'] }],
  instead: 'Export it with Campaigns > Options > Export campaign performance, with the column Send Time.',
};
