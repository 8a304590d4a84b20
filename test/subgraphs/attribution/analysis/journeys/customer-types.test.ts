import * as fc from 'fast-check';
import { measureCustomerTypes } from '../../../../../subgraphs/attribution/analysis/journeys/customer-types.ts';
import { sized } from '../../../../run-length.ts';
import { openColumnarStore, upload, type ColumnarStore } from '../../intake/touchpoints/columnar-store.ts';

const LONGEST_MS = sized({ short: 60_000, long: 600_000 });
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);

let store: ColumnarStore;
let sources = 0;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

interface Touch {
  readonly user: string;
  readonly hour: number;
  readonly channel: string;
}
interface Order extends Touch {
  readonly revenue: number;
  /** As the file says it. */
  readonly type: 'new' | 'returning' | '';
}

const HOURS = { touch: 24 * 50, order: 24 * 40 };
const user = fc.constantFrom('u1', 'u2', 'u3', 'u4');
const channel = fc.constantFrom('email', 'meta_ads', 'direct');
const touch: fc.Arbitrary<Touch> = fc.record({ user, channel, hour: fc.nat(HOURS.touch) });
const order: fc.Arbitrary<Order> = fc.record({
  user,
  channel: fc.constantFrom('', '', 'meta_ads'),
  hour: fc.nat(HOURS.order),
  revenue: fc.integer({ min: 0, max: 500 }),
  type: fc.constantFrom('new', 'returning', ''),
});
const at = (hour: number): string => new Date(START_MS - 20 * DAY_MS + hour * 3_600_000).toISOString();

async function measured(touches: readonly Touch[], orders: readonly Order[], lookbackDays: number) {
  sources += 1;
  const dataSourceId = `customers-${sources}`;
  const touchRows = touches.map(({ user: who, hour, channel: of }) => `${who},${at(hour)},${of}`);
  const orderRows = orders.map(
    ({ user: who, hour, revenue, type, channel: of }, place) => `o${place},${who},${at(hour)},${revenue},${type},${of}`,
  );
  if (touches.length > 0)
    await upload(store.clickhouse, dataSourceId, ['user_id,timestamp,channel', ...touchRows].join('\n'));
  if (orders.length > 0)
    await upload(
      store.clickhouse,
      dataSourceId,
      ['order_id,user_id,timestamp,revenue,new_customer,channel', ...orderRows].join('\n'),
    );
  return measureCustomerTypes(store.clickhouse, {
    accountId: 'account',
    dataSourceId,
    dateRange: ['2026-01-01', '2026-01-15'],
    lookbackDays,
    conversionEvent: 'purchase',
  });
}

/** The same in the plainest way. */
function reference(touches: readonly Touch[], orders: readonly Order[], lookbackDays: number) {
  const inRange = orders.filter(({ hour }) => hour >= 20 * 24 && hour < 35 * 24);
  const group = (type: Order['type']) => {
    const those = inRange.filter((each) => each.type === type);
    return { orders: those.length, revenue: those.reduce((sum, { revenue }) => sum + revenue, 0) };
  };
  const known = inRange.filter(({ type }) => type !== '');
  if (known.length === 0) return null;
  const stands = (name: string, { user: who, hour, channel: own }: Order): boolean =>
    own === name ||
    touches.some(
      (each) =>
        each.channel === name && each.user === who && each.hour <= hour && each.hour + lookbackDays * 24 >= hour,
    );
  const channels = ['direct', 'email', 'meta_ads'].flatMap((name) => {
    const those = known.filter((each) => stands(name, each));
    return those.length === 0
      ? []
      : [{ channel: name, orders: those.length, newOrders: those.filter(({ type }) => type === 'new').length }];
  });
  return { new: group('new'), returning: group('returning'), unknown: group(''), channels };
}

test(
  'orders of new and of returning customers are counted as by hand',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(touch, { maxLength: 30 }),
        fc.array(order, { maxLength: 20 }),
        fc.constantFrom(1, 7, 30),
        async (touches, orders, lookbackDays) => {
          expect(await measured(touches, orders, lookbackDays)).toEqual(reference(touches, orders, lookbackDays));
        },
      ),
      { numRuns: sized({ short: 12, long: 200 }) },
    );
  },
  LONGEST_MS,
);
