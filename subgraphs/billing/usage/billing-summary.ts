import type { z } from 'zod';
import type { billingPeriod } from '../../../schema/contract/billing-period.ts';
import type { billingSummary } from '../../../schema/contract/billing-summaries.ts';
import { parsePeriod } from '../../../schema/period.ts';
import type { SqlEntityManager, TenantScope } from '../../../platform/postgres/database.ts';
import { publicId } from '../../../platform/identifiers.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { feesOf, periodFigures, shownCents } from '../fees/period-figures.ts';
import { InvoiceStore } from '../invoices/invoice-store.ts';
import { spendLimitOf } from '../spend-limits/spend-limit.ts';

type Shown = z.output<typeof billingSummary>;

/** The bill of a period, as far as whoever `em` acts for can see it. */
export async function summarize(
  em: SqlEntityManager,
  { environment, workspace }: TenantScope,
  { period, currency }: z.output<typeof billingPeriod>,
): Promise<Shown> {
  const asked = parsePeriod(period ?? 'month', await chargingNow(em))!;
  const figures = await periodFigures(em, environment, asked, currency);
  const { deltaRCents, planFeeCents } = figures;
  const billed = feesOf(figures) + planFeeCents;
  const invoice =
    workspace === null ? await new InvoiceStore(em, environment).ofPeriod(asked.name, figures.currency) : null;
  const limit = workspace === null ? await spendLimitOf(em, environment) : null;
  return {
    period: asked.name,
    currency: figures.currency,
    otherCurrencies: [...figures.otherCurrencies],
    currencySymbol: symbolOf(figures.currency),
    totalDeltaRCents: shownCents(deltaRCents),
    platformFeeCents: shownCents(figures.platformFeeCents),
    floorFeeCents: shownCents(figures.floorFeeCents),
    planFeeCents: shownCents(planFeeCents),
    totalBilledCents: shownCents(billed),
    analysesCount: figures.analyses,
    effectiveRate: deltaRCents === 0n ? 0 : Number(billed) / Number(deltaRCents),
    status: environment === 'sandbox' ? 'none' : (invoice?.status ?? 'accruing'),
    invoiceId: invoice === null ? null : publicId('inv', invoice.id),
    dueDate: invoice?.dueDate ?? null,
    spendLimitCents: limit === null ? null : shownCents(limit.monthlyLimitCents),
    byModel: figures.byModel.map((each) => ({
      model: each.model,
      analysesCount: each.analyses,
      totalDeltaRCents: shownCents(each.deltaRCents),
      totalBilledCents: shownCents(feesOf(each)),
    })),
  };
}

/** As English texts write the currency; the code itself where they have no sign for it. */
function symbolOf(currency: string): string {
  const parts = new Intl.NumberFormat('en', { style: 'currency', currency }).formatToParts(0);
  return parts.find(({ type }) => type === 'currency')?.value ?? currency;
}
