import { RunFailedError } from '../../../../../subgraphs/attribution/runs/run-failed-error.ts';
import { loadRunData } from '../../../../../subgraphs/attribution/analysis/attributions/load-run-data.ts';
import type { RunQuery } from '../../../../../subgraphs/attribution/analysis/attributions/compute-analysis.ts';
import {
  MAX_CHANNELS,
  MAX_SPEND_PAIRS,
} from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import type { ClickHouse, StatementOptions } from '../../../../../platform/clickhouse/client.ts';
import type { Uuid } from '../../../../../platform/identifiers.ts';
import { openColumnarStore, upload, type ColumnarStore } from '../../intake/touchpoints/columnar-store.ts';

let store: ColumnarStore;

beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const TOUCHES = 'user_id,timestamp,channel\nu1,2026-01-05T10:00:00Z,email\n';
const ORDERS = 'order_id,user_id,timestamp,revenue\no1,u1,2026-01-06T10:00:00Z,20\n';

async function load(
  source: string,
  clickhouse = store.clickhouse,
): Promise<Awaited<ReturnType<ReturnType<typeof loadRunData>>>> {
  const query: RunQuery = {
    accountId: 'account' as Uuid,
    dataSourceId: source as Uuid,
    startDate: '2026-01-01',
    endDate: '2026-01-31',
    lookbackDays: 30,
    conversionEvent: 'purchase',
    now: new Date('2026-04-01T00:00:00Z'),
  };
  return loadRunData(clickhouse)(query, () => undefined, new AbortController().signal);
}

test('ids in the column of the channel fail an analysis in words, in whatever kind of rows they stand', async () => {
  const names = Array.from({ length: MAX_CHANNELS }, (_, place) => `c${place}`);
  const touches = names.map((name) => `u1,2026-01-05T10:00:00Z,${name}`);
  const spend = names.map((name) => `2026-01-05,${name},1`);
  await upload(store.clickhouse, 'fits', ['user_id,timestamp,channel', ...touches].join('\n'));
  await upload(store.clickhouse, 'fits', ['date,channel,spend', ...spend].join('\n'));
  await upload(store.clickhouse, 'fits', ORDERS);
  expect((await load('fits')).spend.size).toBe(MAX_CHANNELS);

  await upload(store.clickhouse, 'one more', TOUCHES);
  await upload(store.clickhouse, 'one more', ['date,channel,spend', ...spend].join('\n'));
  const failed = await load('one more').catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(RunFailedError);
  expect((failed as RunFailedError).failure).toEqual({
    code: 'insufficient_data',
    message: 'The source names more than 1,000 channels; is the right column mapped to channel?',
  });
});

test('spend on more campaigns than are told apart counts by channel', async () => {
  const rows = Array.from(
    { length: MAX_SPEND_PAIRS + 1 },
    (_, place) => `2026-01-05,${place % 2 === 0 ? 'email' : 'search'},k${place},0.5`,
  );
  await upload(store.clickhouse, 'campaigns', TOUCHES);
  await upload(store.clickhouse, 'campaigns', ORDERS);
  await upload(store.clickhouse, 'campaigns', ['date,channel,campaign,spend', ...rows].join('\n'));
  const { spend, campaigns } = await load('campaigns');
  expect([...spend]).toEqual([
    ['email', (MAX_SPEND_PAIRS / 2 + 1) / 2],
    ['search', MAX_SPEND_PAIRS / 4],
  ]);
  expect(campaigns).toMatchObject({
    tooMany: true,
    spend: [
      { channel: 'email', campaign: '' },
      { channel: 'search', campaign: '' },
    ],
  });
});

test('rows that need more memory than a statement may take fail an analysis for good, in words', async () => {
  await upload(store.clickhouse, 'heavy', TOUCHES);
  await upload(store.clickhouse, 'heavy', ORDERS);
  const tight = (options: StatementOptions = {}): StatementOptions => ({
    ...options,
    settings: { ...options.settings, max_memory_usage: 1_000 },
  });
  const { clickhouse } = store;
  const narrow: ClickHouse = {
    ...clickhouse,
    rows: (statement, row, options) => clickhouse.rows(statement, row, tight(options)),
    batches: (statement, options) => clickhouse.batches(statement, tight(options)),
  };
  const failed = await load('heavy', narrow).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(RunFailedError);
  expect((failed as RunFailedError).failure).toEqual({
    code: 'insufficient_data',
    message: expect.stringContaining('Choose a shorter range'),
  });
});
