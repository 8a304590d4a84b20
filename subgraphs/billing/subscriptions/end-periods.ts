import type { Environment } from '../../../schema/principal.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { changePlan, lockAccount } from '../../../services/identity/accounts/account-store.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { planNamed } from '../plans/plan.ts';
import { tellOfThresholds } from '../spend-limits/alert-spend.ts';
import { monthAfter } from './billing-period.ts';
import { begin, chargePlan } from './charge-plan.ts';
import { SubscriptionStore, type Subscription } from './subscription-store.ts';

interface EndingServices {
  readonly database: Database;
  readonly pubSub: PubSub;
}

/** A round looks at so many at most, and at the rest in the next one. */
const MOST = 200;

/**
 * Ends the periods that are over, by the clock of the database, each in a transaction of its own: renews, goes on with
 * the plan that follows, or ends the subscription. Any number of processes may do so. A period that was missed is made
 * up for, one after the other.
 * @returns how many were looked at
 */
export async function endPeriods({ database, pubSub }: EndingServices): Promise<number> {
  const due = await database.asNobody((em) =>
    em.execute<{ id: Uuid; account_id: Uuid; environment: Environment }[]>(
      'select id, account_id, environment from billing.subscriptions_due(?)',
      [MOST],
    ),
  );
  for (const { id, account_id: accountId, environment } of due)
    await database.asTenant(wholeAccount({ accountId, environment }), (em) => settle(em, pubSub, accountId, id));
  return due.length;
}

async function settle(em: SqlEntityManager, pubSub: PubSub, accountId: Uuid, id: Uuid): Promise<void> {
  const { plan } = await lockAccount(em, accountId);
  const store = new SubscriptionStore(em);
  const subscription = await store.lock(id);
  if (subscription === null) return;
  const isLive = subscription.environment === 'live';
  if (subscription.status === 'pending') {
    // Somebody has agreed on a contract, and given the plan.
    if (plan === subscription.planId) await agree(store, subscription);
    return;
  }
  if (subscription.periodEnd === null || subscription.periodEnd > (await chargingNow(em))) return;
  if (subscription.status !== 'trialing' && subscription.status !== 'active') return;
  // Whoever was given another plan meanwhile owes nothing more for this one.
  if (isLive && plan !== subscription.planId) return store.keep(canceled(subscription));
  const next = isLive && (await hasLeft(em, accountId)) ? canceled(subscription) : following(subscription);
  await store.keep(next);
  if (next.status === 'canceled') {
    if (isLive) await changePlan(em, accountId, 'pay_per_analysis');
    return;
  }
  if (next.planId === subscription.planId) await chargePlan(em, next);
  else await begin(em, next);
  if (isLive) await tellOfThresholds(em, pubSub, accountId, planNamed(next.planId).currency);
}

const canceled = (subscription: Subscription): Subscription => ({ ...subscription, status: 'canceled' });

/** Nobody is left who could end a plan once the agent of an account is closed or suspended: it is not renewed. */
async function hasLeft(em: SqlEntityManager, accountId: Uuid): Promise<boolean> {
  const gone = await em.execute<object[]>(`select from agents.agents where account_id = ? and status <> 'active'`, [
    accountId,
  ]);
  return gone.length > 0;
}

async function agree(store: SubscriptionStore, pending: Subscription): Promise<void> {
  const current = await store.inForce();
  if (current !== null) await store.keep(canceled(current));
  await store.keep({ ...pending, status: 'active' });
}

/** What a subscription is once its period is over. */
export function following(subscription: Subscription): Subscription {
  const { nextPlan, anchorAt, periodEnd, periods } = subscription;
  if (nextPlan === 'pro') {
    const { start, end } = monthAfter(periodEnd!, 0);
    return {
      ...subscription,
      planId: 'pro',
      status: 'active',
      amountCents: BigInt(planNamed('pro').priceCents!),
      anchorAt: start,
      periods: 0,
      periodStart: start,
      periodEnd: end,
      nextPlan: null,
    };
  }
  if (nextPlan !== null) return canceled(subscription);
  const { start, end } = monthAfter(anchorAt!, periods + 1);
  return { ...subscription, periods: periods + 1, periodStart: start, periodEnd: end };
}
