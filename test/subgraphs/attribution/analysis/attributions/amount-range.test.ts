import fc from 'fast-check';
import { createComputePool, type ComputePool } from '../../../../../compute/pool.ts';
import { RunFailedError } from '../../../../../subgraphs/attribution/runs/run-failed-error.ts';
import { analyze, type RunParameters } from '../../../../../subgraphs/attribution/analysis/attributions/analyze.ts';
import { isUnmeasurable } from '../../../../../subgraphs/attribution/analysis/attributions/figures.ts';
import type { AnalysisFigures } from '../../../../../subgraphs/attribution/analysis/attributions/figures.ts';
import { loadRunData } from '../../../../../subgraphs/attribution/analysis/attributions/load-run-data.ts';
import { MODELS } from '../../../../../schema/value-lists.ts';
import { newUuid } from '../../../../../platform/identifiers.ts';
import {
  MEASURED_AT,
  openColumnarStore,
  storeRows,
  type ColumnarStore,
  type StoredRow,
} from '../../intake/touchpoints/columnar-store.ts';
import { sized } from '../../../../run-length.ts';

const [START, END] = ['2026-09-01', '2026-09-30'];
const CHANNELS = ['email', 'display', 'direct', 'search'];
const CENT = 100n;
/** What an analysis takes, in cents. */
const MOST = 90_000_000_000_000n * CENT;

let store: ColumnarStore;
let pool: ComputePool;
beforeAll(async () => {
  store = await openColumnarStore();
  pool = createComputePool({ threads: 2 });
});
afterAll(async () => {
  await pool.close();
  await store.close();
});

/** Cents up to what an upload admits, 10^12 major units. */
const LARGEST = 10n ** 14n;
const amount = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 5n }), fc.bigInt({ min: 0n, max: LARGEST }));
/** Some amounts, and of the largest ones around the number at which they are too many. */
const amounts = fc
  .tuple(fc.array(amount, { minLength: 1, maxLength: 30 }), fc.constantFrom(0, 60, 88, 89, 90, 91, 120))
  .map(([some, largest]) => [...some, ...Array.from({ length: largest }, () => LARGEST)]);
const time = fc
  .integer({ min: 0, max: 29 * 24 - 1 })
  .map((hour) => `${new Date(Date.parse(START) + hour * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')}.000`);
const user = fc.nat(12).map((number) => `u${number}`);
const channel = fc.constantFrom(...CHANNELS);
/** A row for each of the amounts. */
const rowsOf = <Row>(row: fc.Arbitrary<Row>) =>
  amounts.chain((all) => fc.tuple(...all.map((cents) => row.map((values) => ({ ...values, cents })))));
const sign = fc.integer({ min: 0, max: 4 }).map((number) => (number === 0 ? -1n : 1n));
const orders = rowsOf(fc.record({ user_id: user, ts: time, sign })).map((rows) =>
  rows.map(({ cents, sign: of, ...order }) => ({ ...order, cents: of * cents })),
);
const touches = rowsOf(fc.record({ user_id: user, ts: time, channel }));
const spend = rowsOf(fc.record({ day: fc.nat(29), channel }));
const paths = rowsOf(
  fc.record({ path: fc.array(channel, { maxLength: 4 }), sign, conversions: amount, nulls: amount }),
).map((rows) => rows.map(({ cents, sign: of, ...path }) => ({ ...path, cents: of * cents })));
/** What the columns of spend and cost hold. */
const capped = (cents: bigint): bigint => (cents < LARGEST ? cents : LARGEST - 1n);

const decimal = (cents: bigint): string =>
  `${cents < 0n ? '-' : ''}${size(cents) / CENT}.${String(size(cents) % CENT).padStart(2, '0')}`;
const size = (cents: bigint): bigint => (cents < 0n ? -cents : cents);
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n);
const dayOf = (number: number): string => new Date(Date.parse(START) + number * 86_400_000).toISOString().slice(0, 10);

async function run(
  dataSourceId: string,
  model: RunParameters['model'],
): Promise<AnalysisFigures | RunFailedError['failure']> {
  const { signal } = new AbortController();
  const query = {
    accountId: newUuid(0),
    dataSourceId: dataSourceId as ReturnType<typeof newUuid>,
    startDate: START,
    endDate: END,
    lookbackDays: 30,
    conversionEvent: 'purchase',
    now: MEASURED_AT,
  };
  const data = await loadRunData(store.clickhouse)(
    { ...query, accountId: 'account' as typeof query.accountId },
    () => undefined,
    signal,
  );
  const parameters: RunParameters = {
    model,
    granularity: 'daily',
    rangeStartS: Date.parse(START) / 1000,
    rangeEndS: Date.parse(END) / 1000 + 86_400,
    lookbackS: 30 * 86_400,
    confidenceLevel: 0.95,
    markovOrder: 1,
    baselineChannels: ['direct'],
    currency: 'USD',
    seed: 'seed',
  };
  try {
    return await analyze(data, parameters, {
      pool,
      signal,
      onProgress: () => undefined,
      clockMs: () => 0,
      startedMs: 0,
    });
  } catch (error) {
    if (error instanceof RunFailedError) return error.failure;
    throw error;
  }
}

/** Whole cents, all of them exact, of which every sum is what it says. */
function expectExact(figures: AnalysisFigures): void {
  const { channels, revenueCents, baselineRevenueCents, unattributedRevenueCents, timeSeries, campaigns } = figures;
  const exact = (cents: readonly number[], total: number): void => {
    expect(cents.filter((each) => !Number.isSafeInteger(each))).toEqual([]);
    expect(sum(cents.map(BigInt))).toBe(BigInt(total));
  };
  exact([...channels.map(({ attributedRevenueCents }) => attributedRevenueCents), baselineRevenueCents], revenueCents);
  exact(
    [...channels.map(({ lastclickRevenueCents }) => lastclickRevenueCents), unattributedRevenueCents],
    revenueCents,
  );
  exact([figures.revenueCausalCents, -figures.revenueLastclickCents], figures.deltaRCents);
  for (const each of channels) {
    expect(
      [
        each.spend,
        each.conversions,
        each.share,
        each.confidence,
        ...(isUnmeasurable(each) ? [] : [each.confidenceInterval?.lower, each.confidenceInterval?.upper]),
      ].every(Number.isFinite),
    ).toBe(true);
    const series = timeSeries?.channels.find((one) => one.channel === each.channel);
    if (series !== undefined) exact(series.attributedRevenueCents, each.attributedRevenueCents);
    const own = (campaigns ?? []).filter((one) => one.channel === each.channel);
    if (own.length > 0)
      exact(
        own.map(({ attributedRevenueCents }) => attributedRevenueCents),
        each.attributedRevenueCents,
      );
  }
  if (timeSeries != null) exact(timeSeries.revenueCents, revenueCents);
}

async function expectSound(dataSourceId: string, model: RunParameters['model'], isInRange: boolean): Promise<void> {
  const found = await run(dataSourceId, model);
  if ('channels' in found) {
    expect(isInRange).toBe(true);
    expectExact(found);
  } else {
    // Within the range a model may still see too little.
    expect(found.code).toBe(isInRange ? 'insufficient_data' : 'amount_out_of_range');
  }
}

test('of orders, touches and spend as large as uploads admit, an analysis is exact or says: too many', async () => {
  await fc.assert(
    fc.asyncProperty(
      orders,
      touches,
      fc.oneof(spend, fc.constant([])),
      fc.constantFrom(...MODELS),
      async (bought, seen, spent, model) => {
        const key = { accountId: 'account', dataSourceId: newUuid() };
        const put = (table: Parameters<typeof storeRows>[2], rows: readonly StoredRow[]) =>
          rows.length === 0 ? Promise.resolve() : storeRows(store.clickhouse, key, table, rows);
        await put(
          'conversions',
          bought.map(({ cents, ...order }, number) => ({ ...order, order_id: `o${number}`, revenue: decimal(cents) })),
        );
        await put(
          'touchpoints',
          seen.map(({ cents, ...touch }, number) => ({
            ...touch,
            campaign: `c${number}`,
            cost: decimal(capped(cents)),
          })),
        );
        await put(
          'spend',
          spent.map(({ day, channel: name, cents }, number) => ({
            date: dayOf(day),
            channel: name,
            campaign: `c${number}`,
            spend: decimal(capped(cents)),
          })),
        );
        const stated = new Set(spent.map(({ day, channel: name }) => `${dayOf(day)} ${name}`));
        const paid = [
          ...spent.map(({ cents }) => capped(cents)),
          ...seen
            .filter(({ ts, channel: name }) => !stated.has(`${ts.slice(0, 10)} ${name}`))
            .map(({ cents }) => capped(cents)),
        ];
        await expectSound(
          key.dataSourceId,
          model,
          sum(bought.map(({ cents }) => size(cents))) <= MOST && sum(paid) <= MOST,
        );
      },
    ),
    { numRuns: sized({ short: 8, long: 24 }), endOnFailure: true },
  );
}, 240_000);

test('so it is of aggregated paths, and of the journeys that they count', async () => {
  await fc.assert(
    fc.asyncProperty(paths, fc.constantFrom('causal', 'markov', 'shapley', 'dominance', 'rwa'), async (rows, model) => {
      const key = { accountId: 'account', dataSourceId: newUuid() };
      await storeRows(
        store.clickhouse,
        key,
        'paths',
        rows.map(({ path, cents, conversions, nulls }, line) => ({
          path,
          revenue: decimal(cents),
          conversions: decimal(conversions),
          nulls: decimal(nulls),
          line,
        })),
      );
      // Of one path the revenue is one sum.
      const byPath = Map.groupBy(rows, ({ path }) => path.join());
      const turnover = sum([...byPath.values()].map((same) => size(sum(same.map(({ cents }) => cents)))));
      await expectSound(key.dataSourceId, model, turnover <= MOST);
    }),
    { numRuns: sized({ short: 4, long: 12 }), endOnFailure: true },
  );
}, 240_000);
