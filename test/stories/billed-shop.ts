import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { newUuid } from '../../platform/identifiers.ts';
import { createAccount } from '../../services/identity/accounts/account-store.ts';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { Caller, openHouse, type House, type HouseOptions, type Json, type Layout } from '../house.ts';
import { clock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';

const POLL_MS = 20;
export const SHOP_DAYS = ['2026-01-01', '2026-01-31'] as const;

/** A house with accounts whose analyses are charged. */
export interface BilledHouse {
  readonly house: House;
  /** The database as its owner sees it. */
  readonly owner: Client;
  /** When all events so far have been passed on, and so analyses charged. */
  relayed(): Promise<void>;
  /** An account that people run, without an agent. */
  brand(): Promise<Caller>;
  /** A source with the smallest shop, in a currency. */
  connect(caller: Caller, currency?: string, more?: object): Promise<string>;
  /** An analysis that was charged; each asks another question of the rows unless told which. */
  analyse(caller: Caller, source: string, more?: object): Promise<Json>;
  /** The account of a caller. */
  accountOf(caller: Caller): Promise<string>;
  /** Puts an analysis into the books, as charging one does: what it brought is told. */
  charged(account: string, row: Partial<ChargedRow>): Promise<void>;
  stop(): Promise<void>;
}

interface ChargedRow {
  readonly deltaRCents: number;
  readonly feeCents: number;
  readonly currency: string | null;
  readonly model: string | null;
  readonly plan: string;
  readonly at: string;
  readonly agentId: string | null;
}

export async function openBilledHouse(layout: Layout = 'one process', options: HouseOptions = {}) {
  const house = await openHouse(layout, { clock, ...options });
  const owner = new Client({ connectionString: house.ownerUrl });
  await owner.connect();
  let questions = 0;
  const relayed = async (): Promise<void> => {
    while ((await owner.query('select from events.outbox where relayed_at is null')).rowCount !== 0)
      await sleep(POLL_MS);
  };
  return {
    house,
    owner,
    relayed,
    async brand() {
      const accountId = newUuid();
      const key = await house.backing.database.asTenant(accountId, async (em) => {
        await createAccount(em, { accountId, operatorId: accountId, operatorEmail: null });
        return house.keys.issue(em, { accountId, agentId: null, kind: 'svc_live_sk', bond: UNBOUND });
      });
      return new Caller(house.root, key);
    },
    async connect(caller, currency = 'USD', more = {}) {
      const { body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {}, ...more });
      const source = String(body['data_source_id']);
      const path = `/data-sources/${source}/records?currency=${currency}`;
      const { status, text } = await caller.send('POST', path, SMALLEST_SHOP, { 'content-type': 'text/csv' });
      if (status >= 300) throw new Error(`the rows were answered with ${status} ${text}`);
      return source;
    },
    async analyse(caller, source, more = {}) {
      questions += 1;
      const asked = {
        data_source_id: source,
        date_range: SHOP_DAYS,
        model: 'markov',
        lookback_window_days: 1 + (questions % 90),
        ...more,
      };
      const { body } = await caller.post('/attribution', asked, { prefer: 'wait=60' });
      await relayed();
      return (await caller.get(`/attribution/${String(body['id'])}`)).body;
    },
    async accountOf(caller) {
      const agent = String((await caller.get('/agents/me')).body['agent_uuid']);
      const { rows } = await owner.query<{ id: string }>('select account_id as id from agents.agents where id = $1', [
        agent,
      ]);
      return rows[0]!.id;
    },
    async charged(account, row) {
      const said = {
        deltaRCents: 0,
        feeCents: 10,
        currency: 'USD',
        model: 'causal',
        plan: 'pay_per_analysis',
        at: clock().toISOString(),
        agentId: null,
        ...row,
      };
      await owner.query(
        `insert into billing.charges (analysis_id, account_id, agent_id, plan, currency, model, delta_r_cents,
           fee_cents, charged_at) values (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, $8)`,
        [account, said.agentId, said.plan, said.currency, said.model, said.deltaRCents, said.feeCents, said.at],
      );
    },
    async stop() {
      await owner.end();
      await house.stop();
    },
  } satisfies BilledHouse as BilledHouse;
}
