import DataLoader from 'dataloader';
import { Ctx, Directive, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import { assertAction } from '../../../schema/actions.ts';
import type { ShownFee } from '../../../schema/platform-fee.ts';
import type { Environment, Plan, RequestContext } from '../../../schema/principal.ts';
import { EnvironmentEnum } from '../../../platform/graph/environment-type.ts';
import { perRequest } from '../../../platform/graph/request-context.ts';
import { CentsScalar } from '../../../platform/graph/scalars.ts';
import { requireUuid, type Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { feeOn, sandboxFee, shownFee } from './fee.ts';

/** The analysis as billing knows it: its id, and what the gateway brings along. */
@Directive('@key(fields: "id")')
@ObjectType('Attribution')
export class BilledAttributionType {
  @Field(() => ID)
  id!: string;

  @Directive('@external')
  @Field(() => CentsScalar, { nullable: true })
  deltaRCents!: number | null;

  /** As the gateway brings it along: in the graph's words. */
  @Directive('@external')
  @Field(() => EnvironmentEnum)
  environment!: Uppercase<Environment>;
}

/** What is on record of the fee of an analysis. */
interface Recorded {
  readonly plan: Plan;
  /** What it was charged; null until its event was relayed, and always in the sandbox. */
  readonly charged: string | null;
  /** What its event says that it is going to cost; null where there is no event yet. */
  readonly announced: string | null;
}

/**
 * What an analysis costs. Once its event was relayed, which takes moments: what it was charged, forever. Until then:
 * what its event says that it will be charged, by the plan that the account had when it completed, and nothing where it
 * repeats another. In the sandbox: what a live one would cost on the account's plan, which is never charged. Null until
 * it has completed.
 */
@Resolver(() => BilledAttributionType)
export class AttributionFeeResolver {
  readonly #recorded;

  constructor(database: Database) {
    this.#recorded = perRequest((context) => {
      const principal = assertAction(context.principal, 'fee:read');
      return new DataLoader<string, Recorded>(async (ids) => {
        const rows = await database.askAs<Recorded>(principal, {
          name: 'billing.fees',
          text: `select account.plan, charge.fee_cents as charged, event.data ->> 'platform_fee_cents' as announced
            from unnest($1::uuid[], $2::text[]) with ordinality as wanted (id, subject, place)
            join auth.accounts account on account.account_id = $3
            left join billing.charges charge on charge.analysis_id = wanted.id
            left join events.outbox event on charge.analysis_id is null and event.account_id = $3
              and event.environment = 'live' and event.subject = wanted.subject and event.type = 'attribution.completed'
            order by place`,
          values: [ids.map((id): Uuid => requireUuid('attr', id, 'attribution')), ids, principal.accountId],
        });
        return ids.map((_, place) => rows[place]!);
      });
    });
  }

  @Directive('@requires(fields: "deltaRCents environment")')
  @FieldResolver(() => CentsScalar, {
    nullable: true,
    description:
      'What the analysis costs by the plan of its account; 0 for a repetition. Once it was charged, what it was. In ' +
      'the sandbox what a live one would cost. Null until completed.',
  })
  async platformFeeCents(
    @Root() attribution: BilledAttributionType,
    @Ctx() context: RequestContext,
  ): Promise<number | null> {
    return (await this.#fee(attribution, context)).platformFeeCents;
  }

  @Directive('@requires(fields: "deltaRCents environment")')
  @FieldResolver(() => Boolean, {
    nullable: true,
    description: 'False where nothing is charged: in the sandbox, on plans without a fee, for repetitions. Else null.',
  })
  async billed(@Root() attribution: BilledAttributionType, @Ctx() context: RequestContext): Promise<boolean | null> {
    return (await this.#fee(attribution, context)).billed;
  }

  async #fee({ id, deltaRCents, environment }: BilledAttributionType, context: RequestContext): Promise<ShownFee> {
    const loader = this.#recorded(context);
    const isSandbox = environment === 'SANDBOX';
    if (deltaRCents == null) return { platformFeeCents: null, billed: isSandbox ? false : null };
    const { plan, charged, announced } = await loader.load(id);
    if (isSandbox) return sandboxFee(plan, BigInt(deltaRCents));
    const known = charged ?? announced;
    return shownFee(known === null ? feeOn(plan, BigInt(deltaRCents)) : BigInt(known));
  }
}
