/**
 * The columns that a reader hands on for each table, in order, with ClickHouse's names of their types. What is the same
 * for a whole upload (whose rows they are, their version) is bound to the statement that stores them.
 */
export const STORED_TABLES = {
  touchpoints: {
    user_id: 'String',
    ts: "DateTime64(3, 'UTC')",
    event_id: 'String',
    channel: 'String',
    campaign: 'String',
    source: 'String',
    medium: 'String',
    cost: 'Decimal(18, 6)',
    event_type: 'String',
    referrer: 'String',
    click_id: 'String',
  },
  conversions: {
    order_id: 'String',
    user_id: 'String',
    ts: "DateTime64(3, 'UTC')",
    event_id: 'String',
    revenue: 'Decimal(18, 4)',
    new_customer: 'Int8',
    conversion_event: 'String',
    channel: 'String',
    campaign: 'String',
    cogs: 'Nullable(Decimal(18, 4))',
  },
  refunds: {
    order_id: 'String',
    user_id: 'String',
    ts: "DateTime64(3, 'UTC')",
    event_id: 'String',
    revenue: 'Decimal(18, 4)',
    new_customer: 'Int8',
    conversion_event: 'String',
    channel: 'String',
    campaign: 'String',
    written: 'Decimal(18, 4)',
    written_currency: 'String',
    needs_order: 'UInt8',
    line: 'UInt64',
  },
  spend: {
    date: 'Date32',
    channel: 'String',
    campaign: 'String',
    spend: 'Decimal(18, 6)',
    impressions: 'UInt64',
    clicks: 'UInt64',
  },
  paths: {
    path: 'Array(String)',
    conversions: 'Decimal(18, 4)',
    revenue: 'Decimal(18, 4)',
    nulls: 'Decimal(18, 4)',
    dated: 'UInt8',
    date: 'Date32',
    line: 'UInt64',
  },
  identities: {
    id: 'String',
    same_as: 'String',
  },
  fx: {
    date: 'Date32',
    currency: 'String',
    rate: 'Decimal(18, 11)',
  },
} as const satisfies Record<string, Readonly<Record<string, string>>>;

export type StoredTable = keyof typeof STORED_TABLES;
export type ColumnType =
  | 'String'
  | "DateTime64(3, 'UTC')"
  | 'Decimal(18, 6)'
  | 'Decimal(18, 4)'
  | 'Nullable(Decimal(18, 4))'
  | 'Decimal(18, 11)'
  | 'Int8'
  | 'UInt8'
  | 'UInt64'
  | 'Date32'
  | 'Array(String)';
