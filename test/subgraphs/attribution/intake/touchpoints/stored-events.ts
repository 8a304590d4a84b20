import { z } from 'zod';
import type { ColumnarStore } from './columnar-store.ts';

/** The touches that a source holds, each once. */
export function storedTouches({ clickhouse }: ColumnarStore, source: string) {
  return clickhouse.rows(
    `SELECT user_id, toString(ts) AS ts, event_id, channel, campaign, toString(cost) AS cost FROM touchpoints FINAL ` +
      `WHERE data_source_id = {source:String} ORDER BY user_id, ts, channel, campaign`,
    z.object({
      user_id: z.string(),
      ts: z.string(),
      event_id: z.string(),
      channel: z.string(),
      campaign: z.string(),
      cost: z.string(),
    }),
    { params: { source } },
  );
}

/** The conversions that a source holds, each once. */
export function storedConversions({ clickhouse }: ColumnarStore, source: string) {
  return clickhouse.rows(
    `SELECT order_id, user_id, toString(ts) AS ts, toString(revenue) AS revenue, currency, new_customer, ` +
      `conversion_event, channel FROM conversions FINAL WHERE data_source_id = {source:String} ORDER BY ts, order_id`,
    z.object({
      order_id: z.string(),
      user_id: z.string(),
      ts: z.string(),
      revenue: z.string(),
      currency: z.string(),
      new_customer: z.number(),
      conversion_event: z.string(),
      channel: z.string(),
    }),
    { params: { source } },
  );
}
