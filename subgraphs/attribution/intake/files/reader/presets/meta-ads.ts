import type { Preset } from './preset.ts';

const CAMPAIGN = ['Campaign name', 'Kampagnenname', 'Nom de la campagne', 'Nombre de la campaña'];
const DAY = ['Day', 'Tag', 'Jour', 'Día'];
const STARTS = ['Reporting starts', 'date_start', 'Berichtsstart', 'Début des rapports', 'Inicio del informe'];
const ENDS = ['Reporting ends', 'date_stop', 'Berichtsende', 'Fin des rapports', 'Fin del informe'];
const SPENT = ['Amount spent (*)', 'Ausgegebener Betrag (*)', 'Montant dépensé (*)', 'Importe gastado (*)'];

const LINK_CLICKS = ['Link clicks', 'Link-Klicks', 'Clics sur un lien', 'Clics en el enlace'];

/**
 * Campaigns by day as Meta's Ads Manager exports them, and as its Insights API names their columns. The row of sums has
 * no campaign and spans the whole report.
 * https://www.facebook.com/business/help/205067636197240
 * https://developers.facebook.com/docs/marketing-api/insights
 */
export const metaAds: Preset = {
  name: 'meta_ads',
  title: 'Meta Ads Manager, campaigns',
  kind: 'spend',
  signatures: [
    ...CAMPAIGN.flatMap((campaign) => SPENT.map((spent) => [campaign, spent])),
    ['campaign_name', 'date_start', 'date_stop', 'spend'],
  ],
  forms: [
    {
      columns: {
        date: [...DAY, ...STARTS],
        campaign: CAMPAIGN,
        spend: [...SPENT, 'spend'],
        impressions: ['Impressions', 'Impressionen', 'Impresiones'],
        // As the Insights API counts clicks.
        clicks: ['Clicks (all)', 'Klicks (alle)', 'Clics (tous)', 'Clics (todos)', 'clicks', ...LINK_CLICKS],
        currency: ['Currency', 'Account currency', 'account_currency'],
      },
      constants: { channel: 'meta_ads' },
    },
  ],
  skips: [{ empty: CAMPAIGN }],
  period: { from: STARTS, to: ENDS, day: DAY },
  instead: 'Export it by day: in Ads Manager, Breakdown > By time > Day, then Reports > Export table data.',
};
