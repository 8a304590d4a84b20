import { parsePeriod } from '../../../schema/period.ts';
import { newUuid, publicId, type Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { recordEvent } from '../../../services/events/outbox.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { feesOf, periodFigures } from '../fees/period-figures.ts';
import { SubscriptionStore } from '../subscriptions/subscription-store.ts';
import { InvoiceStore, type Invoice } from './invoice-store.ts';

export interface InvoiceServices {
  readonly database: Database;
  readonly pubSub: PubSub;
}

/** A round makes so many at most, and the rest in the next one. */
const MOST = 500;
/** Days that whoever got an invoice has to pay it. */
export const DAYS_TO_PAY = 14;

/**
 * Makes the invoices of months that are over, one per account, month and currency that cost anything, each in a
 * transaction of its own; and says of those whose time is over that they are past due. Any number of processes may do
 * so, any number of times.
 * @returns how many invoices were made, and how many are past due since now
 */
export async function closeMonths(
  services: InvoiceServices,
): Promise<{ readonly made: number; readonly late: number }> {
  const { database } = services;
  const due = await database.asNobody((em) =>
    em.execute<{ account_id: Uuid; month: string; currency: string }[]>(
      'select account_id, month, currency from billing.months_to_invoice(?)',
      [MOST],
    ),
  );
  for (const { account_id: accountId, month, currency } of due)
    await database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) =>
      makeInvoice(em, services.pubSub, accountId, month, currency),
    );
  const overdue = await database.asNobody((em) =>
    em.execute<{ id: Uuid; account_id: Uuid }[]>('select id, account_id from billing.invoices_overdue()'),
  );
  for (const { id, account_id: accountId } of overdue)
    await database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) => markLate(em, id));
  return { made: due.length, late: overdue.length };
}

async function makeInvoice(
  em: SqlEntityManager,
  pubSub: PubSub,
  accountId: Uuid,
  month: string,
  currency: string,
): Promise<void> {
  const figures = await periodFigures(em, 'live', parsePeriod(month, new Date(0))!, currency);
  const total = feesOf(figures) + figures.planFeeCents;
  const now = await chargingNow(em);
  const made = await em.execute<object[]>(
    `insert into billing.invoices (id, account_id, month, currency, billed_to, analyses_count,
       platform_fee_cents, floor_fee_cents,
       plan_fee_cents, total_billed_cents, status, due_date)
     values (?, ?, (? || '-01')::date, ?, (select coalesce(name, operator_email, operator_id) from auth.accounts
         where account_id = ?), ?, ?::bigint, ?::bigint, ?::bigint, ?::bigint, 'invoiced', ?::date + ?::int)
     on conflict do nothing returning id`,
    [newUuid(now.getTime()), accountId, month, currency, accountId, figures.analyses]
      .concat([figures.platformFeeCents, figures.floorFeeCents, figures.planFeeCents, total].map(String))
      .concat([now.toISOString().slice(0, 10), DAYS_TO_PAY]),
  );
  if (made.length === 0) return;
  const invoice = (await new InvoiceStore(em, 'live').ofPeriod(month, currency))!;
  await recordEvent(em, pubSub, {
    accountId,
    environment: 'live',
    type: 'billing.invoice_created',
    subject: publicId('inv', invoice.id),
    data: toldOf(invoice),
  });
}

/** An invoice as its events tell it. */
export function toldOf({ id, period, totalBilledCents, currency, dueDate }: Invoice) {
  return {
    invoice_id: publicId('inv', id),
    period,
    total_billed_cents: totalBilledCents,
    currency,
    due_date: dueDate,
  };
}

/** Whoever owes the price of a plan for too long has it no more until it is paid. */
async function markLate(em: SqlEntityManager, id: Uuid): Promise<void> {
  const invoice = await new InvoiceStore(em, 'live').lock(id);
  if (invoice?.status !== 'invoiced') return;
  await em.execute(`update billing.invoices set status = 'past_due' where id = ?`, [id]);
  if (invoice.planFeeCents === 0) return;
  const store = new SubscriptionStore(em);
  const current = await store.inForce();
  if (current?.status === 'active' && current.amountCents > 0n) await store.keep({ ...current, status: 'past_due' });
}
