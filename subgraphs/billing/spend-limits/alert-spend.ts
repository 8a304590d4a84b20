import { monthOf } from '../../../schema/period.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { recordEvent } from '../../../services/events/outbox.ts';
import type { EventConsumer } from '../../../services/events/relay.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { finishedAnalysis } from '../fees/finished-analysis.ts';
import { shownCents } from '../fees/period-figures.ts';
import { USUAL_CURRENCY } from '../ledger/ledger.ts';
import { lockSpendLimit, remaining, spentThisMonth, WHOLE } from './spend-limit.ts';

/** Tells of thresholds that a charge has reached, in the transaction that makes it, behind the charge. */
export function alertSpend(pubSub: PubSub): EventConsumer {
  return async (em, event) => {
    const analysis = event.environment === 'live' ? finishedAnalysis(event) : null;
    if (analysis !== null) await tellOfThresholds(em, pubSub, event.accountId, analysis.currency ?? USUAL_CURRENCY);
  };
}

/**
 * Tells of each threshold of the account's limit that its spend in a currency has reached, once a month; `em` acts for
 * the account's live environment.
 */
export async function tellOfThresholds(
  em: SqlEntityManager,
  pubSub: PubSub,
  accountId: Uuid,
  currency: string,
): Promise<void> {
  // Of two charges at once the later one sees both.
  const limit = await lockSpendLimit(em, 'live');
  if (limit === null) return;
  const spent = await spentThisMonth(em, currency);
  const { monthlyLimitCents, action } = limit;
  const reached = limit.alertThresholds.filter(
    (threshold) => spent > 0n && spent * BigInt(WHOLE) >= monthlyLimitCents * BigInt(threshold),
  );
  if (reached.length === 0) return;
  const month = monthOf(await chargingNow(em));
  const told = await em.execute<{ threshold: number }[]>(
    `insert into billing.spend_alerts (account_id, month, currency, threshold)
     select ?, ?::date, ?, unnest(?::integer[]) on conflict do nothing returning threshold`,
    [accountId, `${month.name}-01`, currency, `{${reached.join(',')}}`],
  );
  for (const { threshold } of told.toSorted((one, other) => one.threshold - other.threshold))
    await recordEvent(em, pubSub, {
      accountId,
      environment: 'live',
      type: 'billing.spend_alert',
      subject: 'spend_limit',
      data: {
        period: month.name,
        currency,
        threshold: threshold / WHOLE,
        spend_cents: shownCents(spent),
        monthly_limit_cents: shownCents(monthlyLimitCents),
        remaining_cents: shownCents(remaining(monthlyLimitCents, spent)),
        action,
        resets_at: month.until.toISOString(),
      },
    });
}
