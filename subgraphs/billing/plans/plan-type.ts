import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { CentsScalar } from '../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../../platform/trust/envelope.ts';
import type { Plan } from './plan.ts';

const PlanIntervalEnum = { MONTH: 'month', ONE_TIME: 'one_time' } as const;
registerEnumType(PlanIntervalEnum, { name: 'PlanInterval', description: 'How often a price is due.' });

@ObjectType('PerAnalysisFee', { description: 'Fee of one analysis: a share of the recovered revenue, with a floor.' })
export class PerAnalysisFeeType {
  @Field(() => Float, { description: 'Share of the recovered revenue, 0.05 = 5 %.' })
  rate!: number;
  @Field(() => Int)
  floorCents!: number;
}

@ObjectType('PlanLimits', { description: 'How often a plan may call; null means unlimited or agreed by contract.' })
export class PlanLimitsType {
  @Field(() => Int, { nullable: true })
  requestsPerMinute!: number | null;
  @Field(() => Int, { nullable: true })
  dailyLimit!: number | null;
}

@ObjectType('Plan', { description: 'A plan of the price list.' })
export class PlanType {
  @Field(() => ID)
  planId!: string;
  @Field(() => String)
  name!: string;
  @Field(() => CentsScalar, { nullable: true, description: 'Null where nothing fixed is charged, or by contract.' })
  priceCents!: number | null;
  @Field(() => String)
  currency!: string;
  @Field(() => PlanIntervalEnum, { nullable: true })
  interval!: 'month' | 'one_time' | null;
  @Field(() => Int, { nullable: true })
  trialDays!: number | null;
  @Field(() => PerAnalysisFeeType, { nullable: true })
  perAnalysisFee!: PerAnalysisFeeType | null;
  @Field(() => PlanLimitsType)
  limits!: PlanLimitsType;
  @Field(() => [String])
  features!: readonly string[];
  @Field(() => Boolean, { description: 'Whether an account can subscribe without a contract.' })
  selfServe!: boolean;
  @Field(() => Boolean, { description: 'Whether this is the plan of the calling account.' })
  current!: boolean;
}

@ObjectType('PlanList')
export class PlanListType {
  @Field(() => [PlanType], { description: 'Cheapest first.' })
  plans!: readonly PlanType[];
  @Field(() => TrustEnvelopeType)
  trust!: TrustEnvelope;
}

/** A plan as the graph shows it. */
export function presentPlan(plan: Plan, current: boolean): PlanType {
  return { ...plan, current };
}
