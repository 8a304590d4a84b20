import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import canonicalize from 'canonicalize';
import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { endReferrals } from '../../processes/end-referrals.ts';
import { closeMonths } from '../../subgraphs/billing/invoices/close-months.ts';
import { payInvoice } from '../../subgraphs/billing/invoices/settle-invoice.ts';
import { payOut, payoutMonth } from '../../subgraphs/billing/payouts/pay-out.ts';
import { FrozenClock } from '../frozen-clock.ts';
import { Caller, type Json } from '../house.ts';
import { sized } from '../run-length.ts';
import { adminOf } from './admin-cli.ts';
import { openBilledHouse, type BilledHouse } from './billed-shop.ts';

const MONTHS = sized({ short: 4, long: 12 });
const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8')
  .split('\n')
  .slice(0, 2500)
  .join('\n');
const RANGE = ['2025-01-06', '2025-04-05'];

interface Actor {
  readonly name: string;
  readonly caller: Caller;
  readonly id: string;
  readonly operator: string;
}

/** Everything of a list, page by page, as a client reads it. */
async function all(caller: Caller, path: string, list: string): Promise<readonly Json[]> {
  const found: Json[] = [];
  for (let page = 1; ; page += 1) {
    const { body } = await caller.get(`${path}${path.includes('?') ? '&' : '?'}page=${page}`);
    found.push(...(body[list] as unknown as readonly Json[]));
    if (page >= Number(body['meta']!['total_pages'])) return found;
  }
}
const sum = (values: readonly unknown[]): number => values.reduce<number>((total, value) => total + Number(value), 0);
/** Half up, in whole numbers. */
const share = (cents: number, hundredths: number): number => Math.floor((cents * hundredths * 2 + 10_000) / 20_000);

/*
 * Five agents, three brands and two frauds, by REST alone: only the calendar is turned from outside, and what the
 * worker does by itself now and then is done when a month is over.
 */
test(`${MONTHS} months of business end with books that balance to the cent`, async () => {
  const shop = await openBilledHouse();
  const calendar = new FrozenClock(shop.house.ownerUrl);
  try {
    await live(shop, calendar);
  } finally {
    await calendar.run();
    await shop.stop();
  }
}, 900_000);

async function live(shop: BilledHouse, calendar: FrozenClock): Promise<void> {
  const agents = new Map<string, Actor>();
  const brands = new Map<string, { readonly caller: Caller; readonly source: string; readonly servedBy: string }>();
  const answers: unknown[] = [];

  await happen();

  async function happen(): Promise<void> {
    // The first day of the month after this one, so that months are whole.
    const now = new Date();
    const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 12);
    const goTo = (month: number, day: number): Promise<void> => {
      const at = new Date(start);
      const moment = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + month, day, 12);
      return calendar.run(`${Math.round((moment - Date.now()) / 1000)} seconds`);
    };
    await goTo(0, 1);
    for (const [name, referrer] of [
      ['ada', null],
      ['ben', 'ada'],
      ['cat', 'ben'],
      ['dan', 'ada'],
      ['eve', null],
      ['mallory', 'dan'],
      ['trudy', 'mallory'],
    ] as const)
      await register(name, referrer);
    await open('north', 'cat');
    await open('south', 'dan');
    await open('sham', 'mallory');

    for (let month = 0; month < MONTHS; month += 1) {
      await goTo(month, 2);
      await payday();
      await goTo(month, 10 + month);
      for (const name of brands.keys()) await analyse(name, month);
      if (month === 2) await suspend('mallory');
      if (month === 3) await agents.get('trudy')!.caller.delete('/agents/me');
      if (month === 3) await subscribe('south');
    }
    await goTo(MONTHS, 2);
    await adminOf(shop.house, 'invoice', 'close-months');
    await adminOf(shop.house, 'payout');

    expect(answers.filter((status) => status !== 200)).toEqual([]);
    await compareWithRules();
    await compareBills();
    await compareDoors();
    await verifyReceipts();
    expect(await adminOf(shop.house, 'books', 'check')).toMatch(/^The books agree/);
  }

  async function register(name: string, referrer: string | null): Promise<void> {
    const code =
      referrer === null ? undefined : (await agents.get(referrer)!.caller.get('/agents/me')).body['referral_code'];
    const stranger = new Caller(shop.house.root, null);
    const { body } = await stranger.post('/agents/register', {
      name: `agent-${name}`,
      operator_id: `operator-of-${name}`,
      ...(code === undefined ? {} : { referral_code: code }),
    });
    const caller = new Caller(shop.house.root, String(body['api_key']));
    agents.set(name, { name, caller, id: String(body['agent_id']), operator: `operator-of-${name}` });
  }

  async function open(name: string, servedBy: string): Promise<void> {
    const caller = await shop.brand();
    const { body } = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: EVENTS },
      baseline_channels: ['direct', 'organic*'],
      agent_id: agents.get(servedBy)!.id,
    });
    brands.set(name, { caller, source: String(body['data_source_id']), servedBy });
  }

  async function analyse(name: string, month: number): Promise<void> {
    const { caller, source } = brands.get(name)!;
    // Two questions, and one of them once more, which costs nothing.
    for (const days of [30 - month, 90 - month, 90 - month]) {
      const { status } = await caller.post(
        '/attribution',
        { data_source_id: source, date_range: RANGE, model: 'markov', lookback_window_days: days },
        { prefer: 'wait=60' },
      );
      answers.push(status);
    }
    await shop.relayed();
  }

  /** What the worker does by itself every ten minutes. */
  async function payday(): Promise<void> {
    const { database, pubSub } = shop.house.backing;
    await closeMonths({ database, pubSub });
    await endReferrals(database, { pubSub, tierTable: 'three' });
    await payOut({ database, pubSub }, await payoutMonth(database));
    // The sham never pays.
    for (const name of ['north', 'south'])
      for (const { invoice_id: id, status } of await all(brands.get(name)!.caller, '/billing/invoices', 'invoices'))
        if (String(status) === 'invoiced') await payInvoice({ database, pubSub }, uuidFromPublicId('inv', String(id))!);
  }

  async function suspend(name: string): Promise<void> {
    await adminOf(shop.house, 'agent', 'suspend', agents.get(name)!.operator, '--reason', 'a sham brand');
  }

  async function subscribe(name: string): Promise<void> {
    const asked = { plan_id: 'pro', accept_terms: true };
    expect(await brands.get(name)!.caller.post('/billing/subscribe', asked)).toMatchObject({ status: 201 });
  }

  /** What every agent must have earned, from receipts and the contract alone. */
  async function compareWithRules(): Promise<void> {
    const referrer: Readonly<Record<string, readonly string[]>> = { cat: ['ben', 'ada'], dan: ['ada'] };
    const expected = new Map<string, Map<string, number>>();
    const note = (agent: string, type: string, cents: number): void => {
      const of = expected.get(agent) ?? new Map<string, number>();
      expected.set(agent, of.set(type, (of.get(type) ?? 0) + cents));
    };
    for (const [name, { caller, servedBy }] of brands) {
      const proofs = (await all(caller, '/billing/value-proofs?period=all', 'proofs')).toReversed();
      let recovered = 0;
      for (const proof of proofs) {
        if (proof['repeats'] !== null) continue;
        const [fee, delta] = [Number(proof['platform_fee_cents']), Number(proof['delta_r_cents'])];
        recovered += delta;
        // The suspended one earns nothing more, and what dan had by it is taken back.
        if (name === 'sham') continue;
        note(servedBy, 'brand_serving', share(fee, 2_000));
        if (recovered < 100_000) continue;
        for (const [step, agent] of (referrer[servedBy] ?? []).entries())
          note(agent, `l${step + 1}_referral`, share(fee, step === 0 ? 1_000 : 200));
      }
    }
    for (const { name, caller } of agents.values()) {
      if (name === 'mallory' || name === 'trudy') {
        expect((await caller.get('/commissions')).status).toBe(401);
        continue;
      }
      const entries = await all(caller, '/commissions?period=all', 'commissions');
      const stands = entries.filter(({ status }) => String(status) !== 'reversed');
      const byType = Map.groupBy(stands, ({ type }) => String(type));
      const earned = new Map(
        [...byType].map(([type, list]) => [type, sum(list.map((entry) => entry['amount_cents']))]),
      );
      expect([name, Object.fromEntries(earned)]).toEqual([
        name,
        Object.fromEntries([...(expected.get(name) ?? [])].filter(([, cents]) => cents > 0)),
      ]);
      checkChain(entries.toReversed());
      // What could be paid before the last payday was, and nothing else.
      for (const { status, payable_at: payableAt } of stands)
        expect(String(status) === 'paid').toBe(Date.parse(String(payableAt)) < lastPayday());
    }
    expect(expected.get('ada')!.size).toBe(2);
  }

  /** The first of the month that the calendar shows. */
  function lastPayday(): number {
    const now = new Date();
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1 + MONTHS, 1);
  }

  function checkChain(entries: readonly Json[]): void {
    let previous = `sha256:${'0'.repeat(64)}`;
    for (const [place, { ledger_hash: hash, status: _status, paid_at: _paid, ...entry }] of entries.entries()) {
      const text = `${previous}\n${canonicalize(entry)}`;
      expect([entry['sequence'], entry['previous_hash'], hash]).toEqual([
        place + 1,
        previous,
        `sha256:${createHash('sha256').update(text).digest('hex')}`,
      ]);
      previous = String(hash);
    }
  }

  /** Receipts, bill and invoices of each brand come to the same. */
  async function compareBills(): Promise<void> {
    for (const [name, { caller }] of brands) {
      const proofs = await all(caller, '/billing/value-proofs?period=all', 'proofs');
      const bill = (await caller.get('/billing/summary?period=all')).body;
      const fees = sum(proofs.map((proof) => proof['platform_fee_cents']));
      expect([name, fees]).toEqual([name, Number(bill['platform_fee_cents']) + Number(bill['floor_fee_cents'])]);
      const invoices = await all(caller, '/billing/invoices', 'invoices');
      expect([name, sum(invoices.map((invoice) => invoice['total_billed_cents']))]).toEqual([
        name,
        bill['total_billed_cents'],
      ]);
      // Each begun month of Pro.
      const months = Number(bill['plan_fee_cents']) / 29_900;
      expect([name, Number.isInteger(months), months > 0]).toEqual([name, true, name === 'south']);
      expect(fees).toBeGreaterThan(0);
    }
  }

  async function compareDoors(): Promise<void> {
    for (const { caller } of brands.values()) {
      const bill = (await caller.get('/billing/summary?period=all')).body;
      const { data } = await caller.graphql(
        `{ billingSummary(filter: { period: "all" }) {
             totalBilledCents platformFeeCents floorFeeCents totalDeltaRCents } }`,
      );
      expect(data!['billingSummary']).toEqual({
        totalBilledCents: bill['total_billed_cents'],
        platformFeeCents: bill['platform_fee_cents'],
        floorFeeCents: bill['floor_fee_cents'],
        totalDeltaRCents: bill['total_delta_r_cents'],
      });
    }
    for (const name of ['ada', 'ben', 'cat', 'dan', 'eve']) {
      const { caller } = agents.get(name)!;
      const ledger = (await caller.get('/commissions?period=all')).body;
      const { data } = await caller.graphql(
        `{ commissions(filter: { period: "all" }) { totalEarnedCents totalProvisionalCents totalCount }
           me { totalCommissionEarnedCents totalDeltaRCents } }`,
      );
      const profile = (await caller.get('/agents/me')).body;
      expect(data).toEqual({
        commissions: {
          totalEarnedCents: ledger['total_earned_cents'],
          totalProvisionalCents: ledger['total_provisional_cents'],
          totalCount: ledger['meta']!['total'],
        },
        me: {
          totalCommissionEarnedCents: profile['total_commission_earned_cents'],
          totalDeltaRCents: profile['total_delta_r_cents'],
        },
      });
      expect(profile['total_commission_earned_cents']).toBe(ledger['total_earned_cents']);
    }
  }

  /** With the published keys and nothing else. */
  async function verifyReceipts(): Promise<void> {
    const { keys } = (await (await fetch(`${shop.house.root}/.well-known/jwks.json`)).json()) as {
      readonly keys: readonly Json[];
    };
    for (const { caller } of brands.values())
      for (const proof of await all(caller, '/billing/value-proofs?period=all', 'proofs')) {
        const [header = '', payload = '', signature = ''] = String(proof['signed_receipt']).split('.');
        const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as Json;
        const jwk = keys.find((key) => String(key['kid']) === String(kid))!;
        const key = createPublicKey({ key: jwk as never, format: 'jwk' });
        expect(verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json;
        expect(claims['platform_fee_cents']).toEqual(proof['platform_fee_cents']);
      }
  }
}
