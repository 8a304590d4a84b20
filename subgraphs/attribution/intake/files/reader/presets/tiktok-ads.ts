import type { Preset } from './preset.ts';

const DAY = ['By Day', 'Date', 'Day', 'stat_time_day'];

/**
 * Campaigns by day as TikTok's Ads Manager reports them.
 * https://ads.tiktok.com/help/article/custom-reports
 */
export const tiktokAds: Preset = {
  name: 'tiktok_ads',
  title: 'TikTok Ads Manager, campaign report',
  kind: 'spend',
  signatures: [
    ['Campaign name', 'By Day', 'Cost'],
    ['Campaign name', 'Cost', 'Clicks (destination)'],
    ['Campaign name', 'Cost', 'CPC (destination)'],
    ['Campaign name', 'Cost', 'Conversion rate (CVR)'],
    ['campaign_name', 'stat_time_day', 'spend'],
  ],
  forms: [
    {
      columns: {
        date: DAY,
        campaign: 'Campaign name',
        spend: ['Cost', 'spend'],
        impressions: ['Impressions', 'Impression'],
        clicks: ['Clicks (destination)', 'Clicks (all)', 'Clicks'],
        currency: 'Currency',
      },
      constants: { channel: 'tiktok_ads' },
    },
  ],
  instead: 'Export it by day: Reporting > Custom report with the dimensions Campaign name and By Day, then Export.',
};
