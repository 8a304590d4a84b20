import type { Preset } from './preset.ts';

/**
 * Campaigns by day as Google Ads downloads them. Rows may be parted further, such as by device.
 * https://support.google.com/google-ads/answer/2404176
 */
export const googleAds: Preset = {
  name: 'google_ads',
  title: 'Google Ads, campaign report',
  kind: 'spend',
  signatures: [
    ['Campaign', 'Cost', 'Impr.'],
    ['Campaign', 'Cost', 'Currency code'],
    ['Kampagne', 'Kosten', 'Währungscode'],
    ['Campagne', 'Coût', 'Code de devise'],
    ['Campaña', 'Coste', 'Código de moneda'],
    ['Campaña', 'Costo', 'Código de moneda'],
  ],
  forms: [
    {
      columns: {
        date: ['Day', 'Tag', 'Jour', 'Día'],
        campaign: ['Campaign', 'Kampagne', 'Campagne', 'Campaña'],
        spend: ['Cost', 'Kosten', 'Coût', 'Coste', 'Costo'],
        impressions: ['Impr.', 'Impressions'],
        clicks: ['Clicks', 'Klicks', 'Clics'],
        currency: ['Currency code', 'Währungscode', 'Code de devise', 'Código de moneda'],
      },
      constants: { channel: 'google_ads' },
    },
  ],
  instead: 'Export it by day: in Campaigns, Segment > Time > Day, then Download > .csv.',
};
