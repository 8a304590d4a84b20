import type { Uuid } from '../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../platform/postgres/database.ts';
import type { PubSub } from '../../platform/postgres/pub-sub.ts';
import type { ClaimedDelivery, Outcome } from './delivery.ts';
import { DELIVERIES_TOPIC, finishDelivery, holdDelivery, insertDelivery } from './delivery-store.ts';
import { noteOutcome } from './endpoint-store.ts';
import { nextAttemptAt } from './retry-schedule.ts';

const GONE = 410;

export interface SettleServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  /** Others than those of the contract, for tests that cannot wait for so long. */
  readonly waitsMs?: readonly number[];
}

/**
 * Writes what came of an attempt and, in the same transaction, the attempt that follows a failed one. An attempt that
 * another sender took over and finished meanwhile stays as that one left it. Tests change nothing but their own record.
 */
export async function settleDelivery(
  { database, pubSub, waitsMs }: SettleServices,
  sender: Uuid,
  delivery: ClaimedDelivery,
  outcome: Outcome,
): Promise<void> {
  const { id, endpointId, attempt, isTest } = delivery;
  await database.asTenant(wholeAccount(delivery), async (em) => {
    const held = await holdDelivery(em, sender, id);
    if (held === null) return;
    const isGone = outcome.responseStatus === GONE;
    const isSuccess = outcome.status === 'success';
    const next =
      isSuccess || isGone || isTest
        ? null
        : nextAttemptAt(attempt, held.now, outcome.retryAfterMs, held.begunAt, waitsMs);
    await finishDelivery(em, id, outcome, held.now, next);
    if (isTest) return;
    await noteOutcome(em, endpointId, {
      isSuccess,
      isLast: next === null,
      isTimeout: outcome.error === 'timeout',
      isGone,
    });
    if (next === null) return;
    await insertDelivery(em, { ...delivery, attempt: attempt + 1, begunAt: held.begunAt, scheduledAt: next });
    // Whoever sleeps until a later attempt must know of this one.
    await pubSub.publish(em, DELIVERIES_TOPIC, null);
  });
}
