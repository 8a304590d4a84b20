import type { Preset } from './preset.ts';

/**
 * Campaigns by day as Meta's Ads Manager exports them. The row of sums has no campaign and spans the whole report.
 * https://www.facebook.com/business/help/205067636197240
 */
export const metaAds: Preset = {
  name: 'meta_ads',
  title: 'Meta Ads Manager, campaigns by day',
  kind: 'spend',
  signatures: [
    ['Campaign name', 'Day', 'Amount spent (*)'],
    ['Campaign name', 'Reporting starts', 'Amount spent (*)'],
  ],
  forms: [
    {
      columns: {
        date: ['Day', 'Reporting starts'],
        campaign: 'Campaign name',
        spend: 'Amount spent (*)',
        impressions: 'Impressions',
        clicks: ['Link clicks', 'Clicks (all)'],
      },
      constants: { channel: 'meta_ads' },
    },
  ],
  skips: [{ empty: ['Campaign name'] }],
};
