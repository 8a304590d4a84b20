import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../touchpoints/source-key.ts';
import type { WrittenRates } from './reader/currency-rates.ts';

/** Of one source: some forty currencies over thirty years. The newest are read. */
const MAX_RATES = 500_000;
const READ_TIMEOUT_MS = 60_000;

const Row = z.object({ currency: z.string(), written: z.string() });

/** The rates that a source holds. */
export async function ratesOf(clickhouse: ClickHouse, key: SourceKey): Promise<WrittenRates> {
  const rows = await clickhouse.rows(
    `SELECT currency,
      arrayStringConcat(arrayMap(entry -> concat(toString(entry.1), ' ', toString(entry.2)), entries), ',') AS written
    FROM (
      SELECT toString(currency) AS currency, arraySort(groupArray((toInt32(date), toFloat64(rate)))) AS entries FROM (
        SELECT currency, date, rate FROM fx FINAL WHERE ${OF_SOURCE} ORDER BY date DESC LIMIT ${MAX_RATES}
      ) GROUP BY currency
    )`,
    Row,
    { params: sourceParams(key), timeoutMs: READ_TIMEOUT_MS },
  );
  return Object.fromEntries(rows.map(({ currency, written }) => [currency, written]));
}
