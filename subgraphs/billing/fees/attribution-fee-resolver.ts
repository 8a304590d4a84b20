import { Directive, Field, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import { CentsScalar } from '../../../platform/graph/scalars.ts';
import { platformFeeCents } from '../../../schema/platform-fee.ts';

/** The analysis as billing knows it: its id, and the recovered revenue that the gateway brings along. */
@Directive('@key(fields: "id")')
@ObjectType('Attribution')
export class BilledAttributionType {
  @Field(() => ID)
  id!: string;

  @Directive('@external')
  @Field(() => CentsScalar, { nullable: true })
  deltaRCents!: number | null;
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
}
