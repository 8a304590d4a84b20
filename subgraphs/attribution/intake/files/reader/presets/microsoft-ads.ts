import type { Preset } from './preset.ts';

const CAMPAIGN = ['Campaign name', 'CampaignName', 'Campaign'];

/**
 * Campaigns by day as Microsoft Advertising reports them: what the report is stands above, whose it is below.
 * https://learn.microsoft.com/en-us/advertising/guides/reports
 */
export const microsoftAds: Preset = {
  name: 'microsoft_ads',
  title: 'Microsoft Advertising, campaign report',
  kind: 'spend',
  signatures: [
    ['Gregorian date', 'Campaign name', 'Spend'],
    ['TimePeriod', 'CampaignName', 'Spend'],
    ['Account number', 'Campaign name', 'Spend'],
    ['AccountNumber', 'CampaignName', 'Spend'],
    ['Account name', 'Campaign name', 'Spend', 'Average CPC'],
  ],
  forms: [
    {
      columns: {
        date: ['Gregorian date', 'TimePeriod', 'Time period', 'Day', 'Date'],
        campaign: CAMPAIGN,
        spend: 'Spend',
        impressions: 'Impressions',
        clicks: 'Clicks',
        currency: ['Currency code', 'CurrencyCode'],
      },
      constants: { channel: 'microsoft_ads' },
    },
  ],
  skips: [{ empty: ['Spend', ...CAMPAIGN] }],
  instead: 'Export it by day: in Reports, a campaign report with Unit of time "Day", then Download > .csv.',
};
