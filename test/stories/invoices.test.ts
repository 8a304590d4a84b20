import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { closeMonths } from '../../subgraphs/billing/invoices/close-months.ts';
import { payInvoice, voidInvoice } from '../../subgraphs/billing/invoices/settle-invoice.ts';
import { endPeriods } from '../../subgraphs/billing/subscriptions/end-periods.ts';
import { FrozenClock } from '../frozen-clock.ts';
import { Caller, LAYOUTS, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { openBilledHouse, SHOP_DAYS, type BilledHouse } from './billed-shop.ts';

const JANUARY = '2026-01-15T12:00:00Z';

describe.each(LAYOUTS)('invoices, %s', (layout) => {
  let shop: BilledHouse;
  let databaseClock: FrozenClock;
  beforeAll(async () => {
    shop = await openBilledHouse(layout);
    databaseClock = new FrozenClock(shop.house.ownerUrl);
  });
  afterEach(async () => {
    const { rows } = await shop.owner.query('select * from billing.check_books()');
    if (rows.length > 0) throw new Error(`the books disagree: ${JSON.stringify(rows)}`);
    await databaseClock.run();
  });
  afterAll(() => shop?.stop());

  const close = () => closeMonths(shop.house.backing);
  const listed = async (by: Caller, query = ''): Promise<readonly Json[]> =>
    (await by.get(`/billing/invoices${query}`)).body['invoices'] as unknown as readonly Json[];
  const uuidOf = (invoice: Json) => uuidFromPublicId('inv', String(invoice['invoice_id']))!;
  const events = async (account: string, type: string): Promise<readonly Json[]> =>
    (
      await shop.owner.query<{ data: Json }>(
        'select data from events.outbox where account_id = $1 and type = $2 order by position',
        [account, type],
      )
    ).rows.map(({ data }) => data);
  /** Days from now, of the database, to a moment. */
  const until = (moment: string): string => `${Math.round((Date.parse(moment) - Date.now()) / 1000)} seconds`;

  /** As an analysis does: a charge, and its transfer. */
  async function charged(account: string, feeCents: number, at: string, currency = 'USD'): Promise<void> {
    await shop.charged(account, { feeCents, deltaRCents: feeCents * 20, currency, at });
    await shop.owner.query(
      `insert into billing.transfers (account_id, key, debit, credit, amount_cents, currency, posted_at)
         select account_id, 'fee:' || analysis_id, billing.ledger_account(account_id, 'receivable', currency),
           billing.ledger_account(account_id, 'fees', currency), fee_cents, currency, charged_at
         from billing.charges where account_id = $1 and fee_cents > 0 on conflict do nothing`,
      [account],
    );
  }

  async function billed(): Promise<{ caller: Caller; account: string; invoice: Json }> {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    await charged(account, 2_500, JANUARY);
    await close();
    const [invoice] = await listed(caller);
    return { caller, account, invoice: invoice! };
  }

  test('a month that is over has one in each currency, made once, and the bill says which', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    await charged(account, 93_649, '2026-01-01T00:00:00Z');
    await charged(account, 10, '2026-01-31T23:59:59.999Z');
    await charged(account, 700, JANUARY, 'EUR');
    await charged(account, 40, new Date().toISOString());
    await Promise.all([close(), close()]);
    await close();
    const invoices = await listed(caller);
    expect(invoices).toHaveLength(2);
    const dollars = invoices.find(({ currency }) => String(currency) === 'USD')!;
    expect(dollars).toMatchObject({
      period: '2026-01',
      status: 'invoiced',
      analyses_count: 2,
      platform_fee_cents: 93_659,
      floor_fee_cents: 0,
      plan_fee_cents: 0,
      total_billed_cents: 93_659,
      settled_at: null,
      payment_method: null,
    });
    const made = Date.parse(String(dollars['created_at']));
    expect(String(dollars['due_date'])).toBe(new Date(made + 14 * 86_400_000).toISOString().slice(0, 10));
    expect((await caller.get(`/billing/invoices/${String(dollars['invoice_id'])}`)).body).toMatchObject(dollars);
    expect((await caller.get('/billing/summary?period=2026-01&currency=USD')).body).toMatchObject({
      status: 'invoiced',
      invoice_id: dollars['invoice_id'],
      due_date: dollars['due_date'],
      total_billed_cents: 93_659,
    });
    expect((await caller.get('/billing/summary')).body).toMatchObject({ status: 'accruing', invoice_id: null });
    expect(await events(account, 'billing.invoice_created')).toEqual(
      expect.arrayContaining([
        {
          invoice_id: dollars['invoice_id'],
          period: '2026-01',
          total_billed_cents: 93_659,
          currency: 'USD',
          due_date: dollars['due_date'],
        },
      ]),
    );
    const { data } = await caller.graphql('{ invoices { totalCount edges { node { id status totalBilledCents } } } }');
    expect(data).toMatchObject({ invoices: { totalCount: 2 } });
  });

  test('a month closes two hours into the next', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    await charged(account, 50, '2031-03-31T23:30:00Z');
    await databaseClock.run(until('2031-04-01T01:59:00Z'));
    await close();
    expect(await listed(caller)).toEqual([]);
    await databaseClock.run(until('2031-04-01T02:01:00Z'));
    await close();
    expect(await listed(caller)).toMatchObject([{ period: '2031-03', due_date: '2031-04-15' }]);
  });

  test('is past due behind its day, and paid once', async () => {
    const { caller, account, invoice } = await billed();
    await databaseClock.run('14 days');
    await close();
    expect(await listed(caller)).toMatchObject([{ status: 'invoiced' }]);
    await databaseClock.run('15 days');
    await close();
    expect(await listed(caller, '?status=past_due')).toMatchObject([{ invoice_id: invoice['invoice_id'] }]);
    await payInvoice(shop.house.backing, uuidOf(invoice));
    await payInvoice(shop.house.backing, uuidOf(invoice));
    const [paid] = await listed(caller);
    expect(paid).toMatchObject({ status: 'paid', payment_method: 'invoice' });
    expect(await events(account, 'billing.payment_received')).toEqual([
      expect.objectContaining({ invoice_id: invoice['invoice_id'], paid_at: paid!['settled_at'], method: 'invoice' }),
    ]);
    expect((await caller.get('/billing/summary?period=2026-01')).body).toMatchObject({ status: 'paid' });
    await expect(voidInvoice(shop.house.backing, uuidOf(invoice))).rejects.toMatchObject({ problem: { status: 409 } });
    const { rows } = await shop.owner.query(
      `select kind, balance_cents::int as balance from billing.ledger_accounts where account_id = $1`,
      [account],
    );
    expect(rows).toEqual([{ kind: 'receivable', balance: 0 }]);
  });

  test('comes as a page for whoever accepts PDF, with names in other scripts than Latin', async () => {
    const caller = await Caller.register(shop.house.root);
    const account = await shop.accountOf(caller);
    await shop.owner.query('update auth.accounts set name = $2 where account_id = $1', [account, 'Ωμέγα и Сыновья']);
    await charged(account, 123_456, JANUARY);
    await close();
    const [invoice] = await listed(caller);
    expect(invoice).toMatchObject({ billed_to: 'Ωμέγα и Сыновья' });
    const path = `/billing/invoices/${String(invoice!['invoice_id'])}`;
    const response = await caller.open('GET', path, undefined, { accept: 'application/pdf' });
    const headers = ['content-type', 'content-disposition'].map((name) => response.headers.get(name));
    const fileName = `${String(invoice!['invoice_id'])}.pdf`;
    expect([response.status, ...headers]).toEqual([200, 'application/pdf', `attachment; filename="${fileName}"`]);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([bytes.subarray(0, 5).toString(), bytes.subarray(-6).toString()]).toEqual(['%PDF-', '%%EOF\n']);
    const either = { accept: 'application/json, application/pdf;q=0.5' };
    expect((await caller.get(path, either)).body).toMatchObject(invoice!);
    expect((await caller.open('GET', path, undefined, { accept: 'image/png' })).status).toBe(406);
    const unknown = await caller.open('GET', '/billing/invoices/inv_nothing', undefined, { accept: 'application/pdf' });
    expect(unknown.status).toBe(404);
  });

  test('a void one is owed no more, and cannot be paid', async () => {
    const { caller, account, invoice } = await billed();
    await voidInvoice(shop.house.backing, uuidOf(invoice));
    expect(await listed(caller)).toMatchObject([{ status: 'void', payment_method: null }]);
    await expect(payInvoice(shop.house.backing, uuidOf(invoice))).rejects.toMatchObject({ problem: { status: 409 } });
    const { rows } = await shop.owner.query(
      'select sum(balance_cents)::int as owed from billing.ledger_accounts where account_id = $1',
      [account],
    );
    expect(rows).toEqual([{ owed: 0 }]);
    await close();
    expect(await listed(caller)).toHaveLength(1);
  });

  test('whoever leaves the price of a plan unpaid is past due with it, until it is paid', async () => {
    const caller = await Caller.register(shop.house.root);
    await caller.post('/billing/subscribe', { plan_id: 'pro', accept_terms: true });
    const status = async () => String((await caller.get('/billing/subscription')).body['status']);
    await databaseClock.run('35 days');
    await close();
    const [invoice] = await listed(caller);
    expect(invoice).toMatchObject({ plan_fee_cents: 29_900, total_billed_cents: 29_900 });
    expect((await caller.get('/billing/subscription')).body).toMatchObject({ invoice_id: invoice!['invoice_id'] });
    await databaseClock.run('50 days');
    await close();
    expect(await status()).toBe('past_due');
    const source = await shop.connect(caller);
    const run = () => caller.post('/attribution', { data_source_id: source, date_range: SHOP_DAYS, model: 'markov' });
    const refused = await run();
    expect([refused.status, refused.body['error']]).toMatchObject([
      402,
      { type: 'payment_required', code: 'past_due' },
    ]);
    await payInvoice(shop.house.backing, uuidOf(invoice!));
    expect(await status()).toBe('active');
    expect((await run()).status).toBe(200);
    while ((await endPeriods(shop.house.backing)) > 0);
    expect(await status()).toBe('active');
  });

  test('is seen by its account alone, not in a workspace, and not by a test key', async () => {
    const { caller, invoice } = await billed();
    const path = `/billing/invoices/${String(invoice['invoice_id'])}`;
    const workspace = String((await caller.post('/workspaces', { name: 'Team' })).body['workspace_id']);
    const others = [
      await Caller.register(shop.house.root),
      caller.in(workspace),
      await withTestKey(shop.house, caller),
    ];
    for (const other of others) {
      expect(await listed(other)).toEqual([]);
      expect((await other.get(path)).status).toBe(404);
    }
    expect((await caller.get('/billing/invoices/inv_nothing')).status).toBe(404);
  });

  test('nobody changes or removes one, the owner of the table included', async () => {
    await billed();
    for (const statement of [
      'update billing.invoices set total_billed_cents = total_billed_cents + 1, plan_fee_cents = plan_fee_cents + 1',
      'delete from billing.invoices',
      'truncate billing.invoices',
    ])
      await expect(shop.owner.query(statement)).rejects.toThrow('an invoice is settled once');
  });
});
