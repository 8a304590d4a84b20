import { Ctx, Resolver } from 'type-graphql';
import { plans } from '../../../schema/contract/plans.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { planOf } from '../../../services/identity/accounts/account-store.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { PLANS } from './plan.ts';

export interface PlanServices {
  readonly database: Database;
  readonly clock: () => Date;
}

const { Query } = nounTypes(plans);

@Resolver()
export class PlanResolver {
  readonly #services: PlanServices;

  constructor(services: PlanServices) {
    this.#services = services;
  }

  @Query('listPlans')
  async plans(@Ctx() context: RequestContext): Promise<Answered<typeof plans, 'listPlans'>> {
    const principal = assertAction(context.principal, 'billing:read');
    const { database, clock } = this.#services;
    // Test keys work in the sandbox whatever the account has subscribed to.
    const account = (principal.workspace?.homeAccountId ?? principal.accountId) as Uuid;
    const current = principal.environment === 'sandbox' ? 'sandbox' : await planOf(database, account);
    const shown = PLANS.map((plan) => ({ ...plan, current: plan.planId === current })).filter(
      // What nobody can ask for stands in the list of those who have it.
      ({ planId, current: isTheirs }) => planId !== 'self_hosted' || isTheirs,
    );
    return {
      plans: shown,
      trust: recordEnvelope(shown.length, clock(), context.apiVersion),
    };
  }
}
