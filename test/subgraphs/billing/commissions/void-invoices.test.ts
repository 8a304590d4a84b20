import { closeMonths } from '../../../../subgraphs/billing/invoices/close-months.ts';
import { voidInvoice } from '../../../../subgraphs/billing/invoices/settle-invoice.ts';
import { openEconomy, type Economy } from '../economy.ts';

let economy: Economy;
beforeAll(async () => {
  economy = await openEconomy();
});
afterEach(() => economy.clock.run());
afterAll(() => economy?.close());

test('a void invoice takes back what its fees have earned: what was paid by the next payouts', async () => {
  const referrer = await economy.agent();
  const agent = await economy.agent(referrer);
  const [sham, honest] = [await economy.brand(), await economy.brand()];
  const outline = async (of: typeof agent) =>
    (await economy.commissions(of)).map(({ type, cents, isPaid }) => [type, cents, isPaid]);
  await economy.clock.stopAt(new Date('2101-01-10T12:00:00Z'));
  await economy.analyse(sham, agent, 200_000);
  await economy.clock.stopAt(new Date('2101-02-02T12:00:00Z'));
  await economy.payOut('2101-02-01');
  await closeMonths(economy);
  expect(await outline(agent)).toEqual([['brand_serving', 2_000, true]]);

  const { rows } = await economy.owner.query<{ id: string }>('select id from billing.invoices where account_id = $1', [
    sham,
  ]);
  await voidInvoice(economy, rows[0]!.id as typeof sham);
  await voidInvoice(economy, rows[0]!.id as typeof sham);
  expect(await outline(agent)).toEqual([
    ['brand_serving', 2_000, true],
    ['adjustment', -2_000, false],
  ]);
  expect(await outline(referrer)).toEqual([
    ['l1_referral', 1_000, false],
    ['clawback', -1_000, false],
  ]);

  // What is earned next is held against it.
  await economy.analyse(honest, agent, 300_000);
  await economy.clock.stopAt(new Date('2101-03-02T12:00:00Z'));
  expect(await economy.payOut('2101-03-01')).toMatchObject([{ amountCents: 1_000n }]);
  expect(await economy.balance(agent.accountId, 'payable')).toBe(0n);
  const check = await economy.owner.query('select * from billing.check_books()');
  expect(check.rows).toEqual([]);
});
