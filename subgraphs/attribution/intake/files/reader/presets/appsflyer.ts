import type { Preset, PresetForm } from './preset.ts';

const USER = ['Customer User ID', 'AppsFlyer ID'];
const PURCHASES = ['af_purchase', 'purchase', 'af_subscribe', 'subscribe'];
const TOUCH_TYPES = { impression: 'view' };
/** Names of networks, as the spend of their exports is called. */
const CHANNELS = {
  'facebook ads': 'meta_ads',
  googleadwords_int: 'google_ads',
  tiktokglobal_int: 'tiktok_ads',
  bingsearch_int: 'microsoft_ads',
};

function touch(time: string, type: string, source: string, campaign: string): PresetForm {
  return {
    columns: {
      user_id: USER,
      timestamp: time,
      channel: { column: source, as: CHANNELS },
      source,
      campaign,
      event_type: { column: type, as: TOUCH_TYPES },
    },
    constants: { conversion: '0' },
    when: [{ filled: [time] }, { filled: [source] }],
    // The touches before an event stand beside each later event, too.
    oncePer: [USER, time, source],
  };
}

const contributor = (n: number): PresetForm =>
  touch(
    `Contributor ${n} Touch Time`,
    `Contributor ${n} Touch Type`,
    `Contributor ${n} Media Source`,
    `Contributor ${n} Campaign`,
  );

/**
 * Raw data of installs and in-app events: each row has up to four touches ahead of it, and purchases are conversions.
 * https://support.appsflyer.com/hc/en-us/articles/208387843
 */
export const appsflyer: Preset = {
  name: 'appsflyer',
  title: 'AppsFlyer, raw data',
  kind: 'events',
  signatures: [['Attributed Touch Type', 'Attributed Touch Time', 'Event Time', 'Event Name', 'Media Source']],
  forms: [
    contributor(3),
    contributor(2),
    contributor(1),
    touch('Attributed Touch Time', 'Attributed Touch Type', 'Media Source', 'Campaign'),
    {
      columns: {
        user_id: USER,
        timestamp: 'Event Time',
        order_id: [
          { column: 'Event Value', member: 'af_order_id' },
          { column: 'Event Value', member: 'af_receipt_id' },
        ],
        revenue: 'Event Revenue',
        currency: 'Event Revenue Currency',
      },
      constants: { conversion: '1' },
      when: [{ column: 'Event Name', in: PURCHASES }],
    },
  ],
  timeZone: 'UTC',
  instead: 'Export raw data of in-app events with AppsFlyer ID, Customer User ID and the columns of touches.',
};
