import { z } from 'zod';
import { connectClickHouse, type ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { SANDBOX_SOURCES } from '../../../../schema/sandbox-sources.ts';
import { createLogger } from '../../../../platform/telemetry/logs.ts';
import { syntheticRowStatements, type DayWindow } from '../../../../subgraphs/attribution/sandbox/synthetic-rows.ts';
import { SYNTHETIC_SHOPS } from '../../../../subgraphs/attribution/sandbox/synthetic-shops.ts';
import { migrateColumnarTables } from '../../../../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import { storedDays } from '../../../../subgraphs/attribution/intake/touchpoints/stored-days.ts';
import { createTestClickHouse, type TestClickHouse } from '../../../platform.ts';
import { MEASURED_AT } from '../intake/touchpoints/columnar-store.ts';

const MONTHS: readonly DayWindow[] = [
  { from: '2026-01-01', to: '2026-01-31' },
  { from: '2026-02-01', to: '2026-02-28' },
  { from: '2026-03-01', to: '2026-03-31' },
];
const QUARTER: DayWindow = { from: '2026-01-01', to: '2026-03-31' };

describe('synthetic rows', () => {
  let store: TestClickHouse;
  let clickhouse: ClickHouse;

  beforeAll(async () => {
    store = await createTestClickHouse();
    clickhouse = connectClickHouse({ ...store, logger: createLogger({ level: 'error', format: 'json' }) });
    await migrateColumnarTables(clickhouse);
  });
  afterAll(async () => {
    await clickhouse?.close();
    await store?.drop();
  });

  const make = async (
    shop: (typeof SYNTHETIC_SHOPS)[number],
    key: { accountId: string; dataSourceId: string },
    windows: readonly DayWindow[],
  ) => {
    for (const window of windows)
      for (const statement of syntheticRowStatements(shop, key, window)) await clickhouse.command(statement);
    return storedDays(clickhouse, key, { deduplicated: true, now: MEASURED_AT });
  };

  test('each source that can be used has a shop', () => {
    expect(SYNTHETIC_SHOPS.map(({ id }) => id)).toEqual(
      SANDBOX_SOURCES.filter(({ isBroken }) => !isBroken).map(({ publicId }) => publicId),
    );
  });

  test.each(SYNTHETIC_SHOPS)(
    'the days of $id are the same whichever window they are made in, and however often',
    async (shop) => {
      const atOnce = await make(shop, { accountId: 'once', dataSourceId: shop.id }, [QUARTER]);
      expect(atOnce.days).toHaveLength(90);
      expect(await make(shop, { accountId: 'months', dataSourceId: shop.id }, MONTHS)).toEqual(atOnce);
      expect(await make(shop, { accountId: 'once', dataSourceId: shop.id }, [MONTHS[1]!])).toEqual(atOnce);
      // Every day has rows of every kind, and none is of another day than asked for.
      for (const { rows, digest } of atOnce.days)
        expect({ rows: rows > 100, kinds: digest.split(' ').map((kind) => kind.split(':')[0]) }).toEqual({
          rows: true,
          kinds: ['conversions', 'spend', 'touchpoints'],
        });
    },
  );

  test('no engine and no release makes other rows, unless the seed version says so', async () => {
    const { days } = await storedDays(
      clickhouse,
      { accountId: 'months', dataSourceId: 'ds_sandbox_shopify' },
      { deduplicated: true, now: MEASURED_AT },
    );
    expect(days[0]).toEqual({
      day: '2026-01-01',
      rows: 478,
      pathSteps: 0,
      digest: 'conversions:423540054522005255 spend:10499816838800439151 touchpoints:7485345856879982986',
    });
  });

  test('shops differ, and the figures are those of a shop', async () => {
    const perDay = await clickhouse.rows(
      `SELECT data_source_id AS id, toInt32(uniqExact(user_id, toDate(ts)) / 90) AS users, toInt32(count() / 90) AS ` +
        `touches FROM touchpoints FINAL WHERE account_id = 'months' GROUP BY id ORDER BY id`,
      z.object({ id: z.string(), users: z.number(), touches: z.number() }),
    );
    expect(perDay).toHaveLength(SYNTHETIC_SHOPS.length);
    expect(new Set(perDay.map(({ touches }) => touches)).size).toBe(SYNTHETIC_SHOPS.length);
    for (const { users } of perDay) expect(users).toBeGreaterThan(120);
    const [orders] = await clickhouse.rows(
      `SELECT toFloat64(avg(revenue)) AS mean, countIf(new_customer = 1) / count() AS new_share, ` +
        `toInt32(countIf(revenue < 10)) AS refunded FROM conversions FINAL WHERE account_id = 'months' AND ` +
        `data_source_id = ` +
        `'ds_sandbox_shopify'`,
      z.object({ mean: z.number(), new_share: z.number(), refunded: z.number() }),
    );
    expect(orders!.mean).toBeGreaterThan(50);
    expect(orders!.new_share).toBeGreaterThan(0.2);
    expect(orders!.new_share).toBeLessThan(0.8);
    expect(orders!.refunded).toBeGreaterThan(0);
  });
});
