import { CLICK_KINDS } from './click-kinds.ts';

/** What columns of files are called here, whatever the files call them. */
export const CANONICAL_COLUMNS = [
  'user_id',
  'event_id',
  'timestamp',
  'channel',
  'campaign',
  'source',
  'medium',
  'cost',
  'event_type',
  'referrer',
  'click_id',
  'order_id',
  'revenue',
  'currency',
  'new_customer',
  'conversion',
  'conversion_event',
  'date',
  'spend',
  'impressions',
  'clicks',
  'path',
  'conversions',
  'nulls',
  'id',
  'same_as',
  'rate',
  ...CLICK_KINDS,
] as const;
export type CanonicalColumn = (typeof CANONICAL_COLUMNS)[number];
