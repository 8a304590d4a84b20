import { Directive, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import { CentsScalar } from '../../../platform/graph/scalars.ts';
import { isBilled, platformFeeCents } from '../../../schema/platform-fee.ts';
import type { Environment } from '../../../schema/principal.ts';
import { EnvironmentEnum } from '../../../platform/graph/environment-type.ts';

/** The analysis as billing knows it: its id, and the recovered revenue that the gateway brings along. */
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

@Resolver(() => BilledAttributionType)
export class AttributionFeeResolver {
  @Directive('@requires(fields: "deltaRCents")')
  @FieldResolver(() => CentsScalar, {
    nullable: true,
    description: 'Fee of the analysis: 5 % of the recovered revenue, at least 0.10; null until completed.',
  })
  platformFeeCents(@Root() attribution: BilledAttributionType): number | null {
    return attribution.deltaRCents === null ? null : platformFeeCents(attribution.deltaRCents);
  }

  @Directive('@requires(fields: "environment")')
  @FieldResolver(() => Boolean, {
    nullable: true,
    description: 'False in the sandbox, where the fee is shown and never charged; null elsewhere.',
  })
  billed(@Root() attribution: BilledAttributionType): boolean | null {
    return isBilled(attribution.environment.toLowerCase() as Environment);
  }
}
