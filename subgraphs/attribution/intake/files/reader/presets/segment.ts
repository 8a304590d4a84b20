import type { Preset, PresetForm, PresetTest } from './preset.ts';

const USER = ['userId', 'user_id', 'anonymousId', 'anonymous_id'];
const ORDERS = ['Order Completed', 'Completed Order', 'order_completed', 'completed_order'];
/** Raw messages name members of objects, tables of a warehouse have columns for them. */
const PAGE = { type: { column: 'type', in: ['page', 'screen'] }, campaign: 'context.campaign.source' } as const;

/** A page that was opened from a campaign, or from another site; other pages are steps of the same visit. */
function touches(isPage: readonly PresetTest[], address: string, referrer: string): PresetForm[] {
  const columns = {
    user_id: USER,
    timestamp: 'timestamp',
    event_id: ['messageId', 'message_id', 'id'],
    source: PAGE.campaign,
    medium: 'context.campaign.medium',
    campaign: 'context.campaign.name',
    referrer,
  } as const;
  const constants = { conversion: '0' } as const;
  return [
    { columns, constants, when: [...isPage, { filled: [PAGE.campaign] }] },
    {
      columns,
      constants,
      when: [...isPage, { empty: [PAGE.campaign] }, { column: referrer, isHostOtherThan: address }],
    },
  ];
}

const order = (prefix: string, isOrder: readonly PresetTest[]): PresetForm => ({
  columns: {
    user_id: USER,
    timestamp: 'timestamp',
    event_id: ['messageId', 'message_id', 'id'],
    order_id: [`${prefix}order_id`, `${prefix}orderId`],
    // Without shipping and taxes, by Segment's own events for e-commerce.
    revenue: [`${prefix}revenue`, `${prefix}total`],
    currency: `${prefix}currency`,
  },
  constants: { conversion: '1' },
  when: isOrder,
});

/**
 * Raw messages as Segment writes them to files, and its tables `pages` and `order_completed` of a warehouse.
 * https://www.twilio.com/docs/segment/connections/spec/common
 * https://www.twilio.com/docs/segment/connections/storage/warehouses/schema
 */
export const segment: Preset = {
  name: 'segment',
  title: 'Segment, messages or tables',
  kind: 'events',
  signatures: [
    ['anonymousId', 'messageId', 'type', 'timestamp'],
    ['anonymous_id', 'received_at', 'sent_at', 'timestamp'],
    ['anonymous_id', 'received_at', 'original_timestamp', 'timestamp'],
  ],
  forms: [
    ...touches([PAGE.type], 'context.page.url', 'context.page.referrer'),
    ...touches([{ lacks: ['type'] }, { filled: ['url'] }], 'url', 'referrer'),
    order('properties.', [
      { column: 'type', in: ['track'] },
      { column: 'event', in: ORDERS },
    ]),
    order('', [{ lacks: ['type'] }, { column: 'event', in: ORDERS }]),
  ],
  // Also of messages that are neither touch nor order: `identify` is what tells who somebody is, `alias` who he was.
  pairs: [
    [
      ['userId', 'user_id'],
      ['anonymousId', 'anonymous_id'],
    ],
    [
      ['userId', 'user_id'],
      ['previousId', 'previous_id'],
    ],
  ],
  timeZone: 'UTC',
  instead: 'Send raw messages of a destination such as Amazon S3, or the tables pages and order_completed as CSV.',
};
