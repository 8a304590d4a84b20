import { z } from 'zod';
import { newSubscription } from '../../../schema/contract/subscriptions.ts';
import type { Principal } from '../../../schema/principal.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import { newUuid, shownId, uuid, uuidFromPublicId, type Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { lockAccount, planIn } from '../../../services/identity/accounts/account-store.ts';
import type { Settle } from '../../../services/idempotency/exactly-once.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { requireOwnAccount } from '../fees/own-account.ts';
import { planNamed } from '../plans/plan.ts';
import { tellOfThresholds } from '../spend-limits/alert-spend.ts';
import { replaceSpendLimit } from '../spend-limits/set-spend-limit.ts';
import { daysFrom, monthAfter } from './billing-period.ts';
import { begin } from './charge-plan.ts';
import { decide } from './decide-subscription.ts';
import { sandboxProvider, type PaymentProvider } from './payment-provider.ts';
import { SubscriptionStore, type Subscription } from './subscription-store.ts';

export interface SubscriptionServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  /** Collects what live accounts owe. */
  readonly payments: PaymentProvider;
}

/** The subscription that was made or changed. */
export const subscribeEffect = z.object({ subscriptionId: uuid });
type Asked = z.output<typeof newSubscription>;

/**
 * Subscribes an account to a plan, or says what becomes of the plan that it has when its period ends.
 * @throws ProblemError `validation_error`, `payment_required`, `conflict` (trial_used, already_subscribed, plan_given)
 */
export async function subscribe(
  { database, pubSub, payments }: SubscriptionServices,
  principal: Principal,
  rawInput: object,
  settle: Settle<z.output<typeof subscribeEffect>>,
): Promise<Subscription> {
  requireOwnAccount(principal);
  const input = parseGraphInput(newSubscription, rawInput);
  const accountId = principal.accountId as Uuid;
  const { environment } = principal;
  const scope = wholeAccount(principal);
  // Nobody is asked for money for what is refused anyway; a provider may be far away, so no transaction waits for it.
  const ahead = await database.asTenant(
    scope,
    async (em) => {
      const workspaceId = await workspaceIn(em, input.workspaceId);
      const step = decide(await standing(em, principal), input.planId);
      return { workspaceId, isNew: step.kind === 'begin' };
    },
    // Plan and subscription as of one moment: another request may be changing both.
    { isolation: 'repeatable read' },
  );
  const { amountCents, currency } = priceOf(input);
  if (ahead.isNew)
    await (environment === 'sandbox' ? sandboxProvider : payments).accept({
      accountId,
      key: `subscribe:${accountId}:${input.planId}`,
      amountCents,
      currency,
      method: input.paymentMethod ?? { type: 'invoice' },
    });
  return database.asTenant(scope, async (em) => {
    await lockAccount(em, accountId);
    const store = new SubscriptionStore(em);
    const step = decide(await standing(em, principal), input.planId);
    const subscription =
      step.kind === 'begin' ? await fresh(em, principal, input, ahead.workspaceId) : step.subscription;
    if (step.kind === 'begin') {
      if (step.ends !== null) await store.keep({ ...step.ends, status: 'canceled' });
      await store.add(subscription);
      if (subscription.status !== 'pending') await begin(em, subscription);
    } else await store.keep(subscription);
    if (input.spendLimitCents !== undefined)
      await replaceSpendLimit(em, principal, { monthlyLimitCents: input.spendLimitCents });
    if (environment === 'live') await tellOfThresholds(em, pubSub, accountId, currency);
    await settle(em, { subscriptionId: subscription.id });
    return subscription;
  });
}

async function standing(em: SqlEntityManager, { accountId, environment }: Principal) {
  const store = new SubscriptionStore(em);
  const current = await store.inForce();
  return {
    current,
    pending: await store.pending(),
    hadTrial: await store.hadTrial(),
    // The sandbox changes no plan of anybody.
    plan: environment === 'live' ? await planIn(em, accountId as Uuid) : (current?.planId ?? 'pay_per_analysis'),
  };
}

/** @throws ProblemError `validation_error` for a workspace that the account does not have */
async function workspaceIn(em: SqlEntityManager, named: string | undefined): Promise<Uuid | null> {
  if (named === undefined) return null;
  const id = uuidFromPublicId('ws', named);
  const known = id === undefined ? [] : await em.execute<object[]>('select from auth.workspaces where id = ?', [id]);
  if (id !== undefined && known.length > 0) return id;
  throw new ProblemError('validation_error', `workspace_id: there is no workspace ${shownId(named)} of yours`, {
    code: 'unknown_workspace',
    param: '/workspace_id',
  });
}

/** What the first period costs; plans by contract and by analysis have no price of their own. */
function priceOf({ planId }: Asked): { readonly amountCents: bigint; readonly currency: string } {
  const { priceCents, currency } = planNamed(planId);
  return { amountCents: BigInt(priceCents ?? 0), currency };
}

async function fresh(
  em: SqlEntityManager,
  { accountId, environment }: Principal,
  input: Asked,
  workspaceId: Uuid | null,
): Promise<Subscription> {
  const now = await chargingNow(em);
  const { planId, paymentMethod } = input;
  const { trialDays, interval } = planNamed(planId);
  const trial = trialDays === null ? null : daysFrom(now, trialDays);
  const isPending = planId === 'enterprise';
  const period = trial ?? (interval === 'month' && !isPending ? monthAfter(now, 0) : null);
  return {
    id: newUuid(now.getTime()),
    accountId: accountId as Uuid,
    environment,
    workspaceId,
    planId,
    status: isPending ? 'pending' : trial === null ? 'active' : 'trialing',
    paymentMethod: paymentMethod?.type ?? 'invoice',
    amountCents: priceOf(input).amountCents,
    startedAt: now,
    anchorAt: period === null ? null : now,
    periods: 0,
    periodStart: period?.start ?? null,
    periodEnd: period?.end ?? null,
    trialEndsAt: trial?.end ?? null,
    nextPlan: trial === null ? null : 'pay_per_analysis',
    invoiceId: null,
  };
}
