import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../../../platform/graph/enum-of.ts';
import { CentsScalar } from '../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../../schema/trust-envelope.ts';
import type { Plan } from './plan.ts';

const PlanIntervalEnum = enumOf(['month', 'one_time'] as const);
registerEnumType(PlanIntervalEnum, { name: 'PlanInterval', description: 'How often a price is due.' });

@ObjectType('PerAnalysisFee', { description: 'Fee of one analysis: a share of the recovered revenue, with a floor.' })
export class PerAnalysisFeeType {
  @Field(() => Float, { description: 'Share of the recovered revenue, 0.05 = 5 %.' })
  rate!: number;
  @Field(() => Int, { description: 'Least fee of one analysis.' })
  floorCents!: number;
}

@ObjectType('PlanLimits', { description: 'How often a plan may call; null means unlimited or agreed by contract.' })
export class PlanLimitsType {
  @Field(() => Int, { nullable: true, description: 'Requests per minute.' })
  requestsPerMinute!: number | null;
  @Field(() => Int, { nullable: true, description: 'Requests per UTC day.' })
  dailyLimit!: number | null;
}

@ObjectType('Plan', { description: 'A plan of the price list.' })
export class PlanType {
  @Field(() => ID, { description: 'Name for programs: sandbox, pro, ….' })
  planId!: string;
  @Field(() => String, { description: 'Name for people.' })
  name!: string;
  @Field(() => CentsScalar, { nullable: true, description: 'Null where nothing fixed is charged, or by contract.' })
  priceCents!: number | null;
  @Field(() => String, { description: 'ISO 4217.' })
  currency!: string;
  @Field(() => PlanIntervalEnum, { nullable: true, description: 'How often the price is due; null without a fixed price.' })
  interval!: 'month' | 'one_time' | null;
  @Field(() => Int, { nullable: true, description: 'Length of the trial; null for plans that are none.' })
  trialDays!: number | null;
  @Field(() => PerAnalysisFeeType, { nullable: true, description: 'Null where analyses cost nothing, or by contract.' })
  perAnalysisFee!: PerAnalysisFeeType | null;
  @Field(() => PlanLimitsType, { description: 'How often the plan may call.' })
  limits!: PlanLimitsType;
  @Field(() => [String], { description: 'What the plan includes, for people.' })
  features!: readonly string[];
  @Field(() => Boolean, { description: 'Whether an account can subscribe without a contract.' })
  selfServe!: boolean;
  @Field(() => Boolean, { description: 'Whether this is the plan of the calling account.' })
  current!: boolean;
}

@ObjectType('PlanList', { description: 'The price list.' })
export class PlanListType {
  @Field(() => [PlanType], { description: 'Cheapest first.' })
  plans!: readonly PlanType[];
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the list.' })
  trust!: TrustEnvelope;
}

/** A plan as the graph shows it. */
export function presentPlan(plan: Plan, current: boolean): PlanType {
  return { ...plan, current };
}
