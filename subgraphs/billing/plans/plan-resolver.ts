import { Ctx, Resolver } from 'type-graphql';
import { plans } from '../../../schema/contract/plans.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { PLANS, type PlanId } from './plan.ts';

/** Accounts start here; test keys work in the sandbox whatever the account has subscribed to. */
const FIRST_PLAN: PlanId = 'pay_per_analysis';

const { Query } = nounTypes(plans);

@Resolver()
export class PlanResolver {
  readonly #clock: () => Date;

  constructor(clock: () => Date) {
    this.#clock = clock;
  }

  @Query('listPlans')
  async plans(@Ctx() context: RequestContext): Promise<Answered<typeof plans, 'listPlans'>> {
    const principal = assertAction(context.principal, 'billing:read');
    const current = principal.environment === 'sandbox' ? 'sandbox' : FIRST_PLAN;
    return {
      plans: PLANS.map((plan) => ({ ...plan, current: plan.planId === current })),
      trust: recordEnvelope(PLANS.length, this.#clock(), context.apiVersion),
    };
  }
}
