import { Arg, Ctx, Resolver } from 'type-graphql';
import { spendLimits } from '../../../schema/contract/spend-limits.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { exactlyOnce } from '../../../services/idempotency/exactly-once.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { limitEffect, recallSpendLimit, setSpendLimit, type SpendLimitServices } from './set-spend-limit.ts';

const { Record, Mutation, inputOf } = nounTypes(spendLimits);

@Resolver(() => Record)
export class SpendLimitResolver {
  readonly #services: SpendLimitServices & { readonly clock: () => Date };

  constructor(services: SpendLimitServices & { readonly clock: () => Date }) {
    this.#services = services;
  }

  @Mutation('setSpendLimit')
  async setSpendLimit(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('setSpendLimit')) input: object,
  ): Promise<Answered<typeof spendLimits, 'setSpendLimit'>> {
    const principal = assertAction(context.principal, 'billing:write');
    const limit = await exactlyOnce(this.#services.database, context, {
      effect: limitEffect,
      act: (settle) => setSpendLimit(this.#services, principal, input, settle),
      recall: () => recallSpendLimit(this.#services, principal, input),
    });
    const trust = recordEnvelope(1, this.#services.clock(), context.apiVersion);
    return { spendLimit: { ...limit, trust }, trust };
  }
}
