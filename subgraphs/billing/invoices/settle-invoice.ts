import { ProblemError } from '../../../schema/problems.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import { recordEvent } from '../../../services/events/outbox.ts';
import { takeBackOnFees } from '../commissions/take-back-commissions.ts';
import { post } from '../ledger/ledger.ts';
import type { PaymentMethod } from '../subscriptions/payment-provider.ts';
import { SubscriptionStore } from '../subscriptions/subscription-store.ts';
import { toldOf, type InvoiceServices } from './close-months.ts';
import { InvoiceStore, type Invoice } from './invoice-store.ts';

/**
 * Books that an invoice was paid. One that is paid already stays as it is.
 * @throws ProblemError `resource_not_found`, `conflict` (void)
 */
export async function payInvoice(
  services: InvoiceServices,
  id: Uuid,
  method: PaymentMethod['type'] = 'invoice',
): Promise<Invoice> {
  return settling(services, id, 'paid', async (em, invoice) => {
    const { accountId, totalBilledCents, currency } = invoice;
    const amountCents = BigInt(totalBilledCents);
    await post(em, accountId, { key: `payment:${id}`, debit: 'cash', credit: 'receivable', amountCents, currency });
    const paid = await settle(em, id, 'paid', method);
    await goOn(em);
    await recordEvent(em, services.pubSub, {
      accountId,
      environment: 'live',
      type: 'billing.payment_received',
      subject: publicId('inv', id),
      data: { ...toldOf(paid), paid_at: paid.settledAt!.toISOString(), method },
    });
    return paid;
  });
}

/**
 * Takes an unpaid invoice back: what it asked for is owed no more, and what its fees have earned agents is taken back.
 * @throws ProblemError `resource_not_found`, `conflict` (paid)
 */
export async function voidInvoice(services: InvoiceServices, id: Uuid): Promise<Invoice> {
  return settling(services, id, 'void', async (em, { accountId, currency, ...invoice }) => {
    const fees = BigInt(invoice.platformFeeCents) + BigInt(invoice.floorFeeCents);
    for (const [debit, amountCents] of [
      ['fees', fees],
      ['plan_fees', BigInt(invoice.planFeeCents)],
    ] as const)
      if (amountCents > 0n)
        await post(em, accountId, { key: `void:${id}:${debit}`, debit, credit: 'receivable', amountCents, currency });
    const settled = await settle(em, id, 'void', null);
    await goOn(em);
    await takeBackOnFees(em, services.pubSub, { accountId, month: invoice.period, currency });
    return settled;
  });
}

async function settling(
  { database }: InvoiceServices,
  id: Uuid,
  status: 'paid' | 'void',
  work: (em: SqlEntityManager, invoice: Invoice) => Promise<Invoice>,
): Promise<Invoice> {
  const [row] = await database.asNobody((em) =>
    em.execute<[{ account: Uuid | null }]>('select billing.account_of_invoice(?) as account', [id]),
  );
  const unknown = () => new ProblemError('resource_not_found', `There is no invoice ${publicId('inv', id)}.`);
  if (row.account === null) throw unknown();
  return database.asTenant(wholeAccount({ accountId: row.account, environment: 'live' }), async (em) => {
    const invoice = await new InvoiceStore(em, 'live').lock(id);
    if (invoice === null) throw unknown();
    if (invoice.status === status) return invoice;
    if (invoice.status === 'paid' || invoice.status === 'void')
      throw new ProblemError('conflict', `The invoice is ${invoice.status} already.`, { code: invoice.status });
    return work(em, invoice);
  });
}

async function settle(
  em: SqlEntityManager,
  id: Uuid,
  status: 'paid' | 'void',
  method: PaymentMethod['type'] | null,
): Promise<Invoice> {
  await em.execute(
    `update billing.invoices set status = ?, settled_at = auth.clock(), payment_method = ? where id = ?`,
    [status, method, id],
  );
  return (await new InvoiceStore(em, 'live').find(id))!;
}

/** Once nothing is past due any more, the plan counts again. */
async function goOn(em: SqlEntityManager): Promise<void> {
  const late = await em.execute<object[]>(
    `select from billing.invoices where status = 'past_due' and plan_fee_cents > 0 limit 1`,
  );
  if (late.length > 0) return;
  const store = new SubscriptionStore(em);
  const current = await store.inForce();
  if (current?.status === 'past_due') await store.keep({ ...current, status: 'active' });
}
