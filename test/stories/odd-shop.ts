import { Client } from 'pg';
import { uuidFromPublicId } from '../../platform/identifiers.ts';
import type { SourceKey } from '../../subgraphs/attribution/intake/touchpoints/source-key.ts';
import { Caller, type Answer, type House, type Json } from '../house.ts';
import { storeRows } from '../subgraphs/attribution/intake/touchpoints/columnar-store.ts';

export const RANGE = ['2026-09-01', '2026-09-30'];
const CHANNELS = ['email', 'display', 'direct'];
export const dayOf = (number: number): string => `2026-09-${String(1 + (number % 25)).padStart(2, '0')}`;
const csv = { 'content-type': 'text/csv' };

const TOUCHES = [
  'user_id,timestamp,channel',
  ...Array.from({ length: 60 }, (_, user) => `u${user},${dayOf(user)}T10:00:00Z,${CHANNELS[user % 3]}`),
].join('\n');
const ORDERS = [
  'order_id,user_id,timestamp,revenue',
  ...Array.from({ length: 30 }, (_, user) => `o${user},u${user},${dayOf(user + 2)}T10:00:00Z,50`),
].join('\n');

/** A tenant with a small shop, and its rows past the checks of uploads. */
export class OddShop {
  readonly house: House;
  readonly caller: Caller;
  readonly id: string;
  readonly key: SourceKey;

  constructor(house: House, caller: Caller, id: string, accountId: string) {
    this.house = house;
    this.caller = caller;
    this.id = id;
    this.key = { accountId, dataSourceId: uuidFromPublicId('ds', id)! };
  }

  static async open(house: House): Promise<OddShop> {
    const caller = await Caller.register(house.root);
    const { body } = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: TOUCHES },
    });
    const id = String(body['data_source_id']);
    const {
      rows: [row],
    } = await asOwner(house, (owner) =>
      owner.query<{ account_id: string }>('select account_id from attribution.data_sources where id = $1', [
        uuidFromPublicId('ds', id),
      ]),
    );
    const shop = new OddShop(house, caller, id, row!.account_id);
    await shop.send(ORDERS);
    return shop;
  }

  send(rows: string): Promise<Answer> {
    return this.caller.send('POST', `/data-sources/${this.id}/records`, rows, csv);
  }

  store(...[table, rows]: [Parameters<typeof storeRows>[2], Parameters<typeof storeRows>[3]]): Promise<void> {
    return storeRows(this.house.backing.clickhouse, this.key, table, rows);
  }

  order(id: string, revenue: string): Promise<void> {
    return this.store('conversions', [{ order_id: id, user_id: 'u1', ts: '2026-09-12 10:00:00.000', revenue }]);
  }

  /** Counts and checks the stored rows anew, as the next upload would. */
  async measure(): Promise<void> {
    await this.caller.post(`/data-sources/${this.id}/sync`, {});
    for (let tries = 0; tries < 800; tries += 1) {
      const { body } = await this.status();
      const [latest] = body['recent_syncs'] as unknown as Json[];
      if (String(latest!['status']) === 'completed') return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the sync did not complete');
  }

  status(): Promise<Answer> {
    return this.caller.get(`/data-sources/${this.id}/status`);
  }

  run(others: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.caller.post('/attribution', { data_source_id: this.id, date_range: RANGE, ...others });
  }
}

export async function asOwner<Result>(house: House, work: (owner: Client) => Promise<Result>): Promise<Result> {
  const owner = new Client({ connectionString: house.ownerUrl });
  await owner.connect();
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}
