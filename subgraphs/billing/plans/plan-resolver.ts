import { Ctx, Query, Resolver } from 'type-graphql';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { PLANS, type PlanId } from './plan.ts';
import { PlanListType, presentPlan } from './plan-type.ts';

/** Accounts start here; test keys work in the sandbox whatever the account has subscribed to. */
const FIRST_PLAN: PlanId = 'pay_per_analysis';

@Resolver()
export class PlanResolver {
  readonly #clock: () => Date;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  @Query(() => PlanListType, { nullable: true, description: 'The price list. Errors: INVALID_API_KEY, INSUFFICIENT_PERMISSIONS.' })
  plans(@Ctx() context: RequestContext): PlanListType {
    const principal = assertAction(context.principal, 'billing:read');
    const current = principal.environment === 'sandbox' ? 'sandbox' : FIRST_PLAN;
    return {
      plans: PLANS.map((plan) => presentPlan(plan, plan.planId === current)),
      trust: recordEnvelope(PLANS.length, this.#clock(), context.apiVersion),
    };
  }
}
