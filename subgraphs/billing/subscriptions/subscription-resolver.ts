import { Arg, Ctx, Resolver } from 'type-graphql';
import { subscription, subscriptions } from '../../../schema/contract/subscriptions.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { presentRecord } from '../../../platform/graph/present-record.ts';
import { wholeAccount } from '../../../platform/postgres/database.ts';
import { exactlyOnce } from '../../../services/idempotency/exactly-once.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { planNamed } from '../plans/plan.ts';
import { subscribe, subscribeEffect, type SubscriptionServices } from './subscribe.ts';
import { SubscriptionStore, type Subscription } from './subscription-store.ts';

const { Record, Query, Mutation, inputOf } = nounTypes(subscriptions);

@Resolver(() => Record)
export class SubscriptionResolver {
  readonly #services: SubscriptionServices & { readonly clock: () => Date };

  constructor(services: SubscriptionServices & { readonly clock: () => Date }) {
    this.#services = services;
  }

  @Mutation('subscribe')
  async subscribe(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('subscribe')) input: object,
  ): Promise<Answered<typeof subscriptions, 'subscribe'>> {
    const principal = assertAction(context.principal, 'billing:write');
    const { database } = this.#services;
    const made = await exactlyOnce(database, context, {
      effect: subscribeEffect,
      act: (settle) => subscribe(this.#services, principal, input, settle),
      recall: ({ subscriptionId }) =>
        database.asTenant(wholeAccount(principal), async (em) =>
          found(await new SubscriptionStore(em).find(subscriptionId)),
        ),
    });
    const shown = this.#present(made, context);
    return { subscription: shown, trust: shown.trust };
  }

  @Query('getSubscription')
  async billingSubscription(
    @Ctx() context: RequestContext,
  ): Promise<Answered<typeof subscriptions, 'getSubscription'>> {
    const principal = assertAction(context.principal, 'billing:read');
    const latest = await this.#services.database.asTenant(principal, (em) => new SubscriptionStore(em).latest());
    return this.#present(found(latest), context);
  }

  #present(entity: Subscription, context: RequestContext) {
    const { nextPlan, periodStart, periodEnd } = entity;
    return {
      ...presentRecord(subscription, entity, {
        currentPeriodStart: periodStart,
        currentPeriodEnd: periodEnd,
        cancelAtPeriodEnd: nextPlan === 'pay_per_analysis',
        nextPlanId: nextPlan,
        currency: planNamed(entity.planId).currency,
        amountDueCents: Number(entity.amountCents),
      }),
      trust: recordEnvelope(1, this.#services.clock(), context.apiVersion),
    };
  }
}

/** @throws ProblemError `resource_not_found` */
function found(subscription: Subscription | null): Subscription {
  if (subscription !== null) return subscription;
  throw new ProblemError('resource_not_found', 'This account has never subscribed to a plan.');
}
