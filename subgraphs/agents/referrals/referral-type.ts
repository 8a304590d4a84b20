import { Field, Float, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { REFERRAL_STATUSES } from '../../../schema/value-lists.ts';
import { connectionType } from '../../../platform/graph/connection.ts';
import { enumOf } from '../../../platform/graph/enum-of.ts';
import { DateTimeScalar } from '../../../platform/graph/scalars.ts';
import { publicId } from '../../../platform/identifiers.ts';
import { ACTIVE_FROM_CENTS } from './accrue-referrals.ts';
import type { Referral, ReferralStatus } from './referral-store.ts';

const StatusEnum = enumOf(REFERRAL_STATUSES);
registerEnumType(StatusEnum, { name: 'ReferralStatus', description: 'PENDING until its agent has recovered 1,000 USD, then ACTIVE; CHURNED for ever once it has been quiet for 90 days or closed its account.' });

@ObjectType('Referral', { description: 'An agent that registered with a referral code, as its referrer and the referrer of that one see it.' })
export class ReferralType {
  @Field(() => ID, { description: 'Public id of the referred agent.' })
  referredAgentId!: string;
  @Field(() => String, { description: 'What the referred agent calls itself.' })
  referredAgentName!: string;
  @Field(() => StatusEnum, { description: 'Where the referral is in its life.' })
  status!: ReferralStatus;
  @Field(() => Int, { description: '1 for an agent that registered with your code, 2 for one that registered with the code of such an agent.' })
  chainDepth!: number;
  @Field(() => Float, { description: 'Recovered revenue of the referred agent that has counted so far, USD.' })
  accumulatedDeltaR!: number;
  @Field(() => Float, { description: 'How far it is on the way to being active, in [0, 1].' })
  activationProgress!: number;
  @Field(() => DateTimeScalar, { description: 'When the referred agent registered.' })
  createdAt!: Date;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it became active; null before.' })
  activatedAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When its commissions end: 12 months after activation; null before.' })
  expiresAt!: Date | null;
}

const Page = connectionType('Referral', () => ReferralType);

@ObjectType('ReferralConnection', { description: 'One page of referrals, the newest first; the totals are of all referrals, whatever the filter.' })
export class ReferralConnection extends Page {
  @Field(() => Int, { description: 'Active ones, of both depths.' })
  totalActive!: number;
  @Field(() => Int, { description: 'Pending ones, of both depths.' })
  totalPending!: number;
  @Field(() => Int, { description: 'Churned ones, of both depths.' })
  totalChurned!: number;
}

@InputType('ReferralFilter', { description: 'Narrows the list of referrals.' })
export class ReferralFilterInput {
  @Field(() => StatusEnum, { nullable: true, description: 'Only these.' })
  status?: ReferralStatus | null;
  @Field(() => Int, { nullable: true, description: 'Only those of depth 1 or 2.' })
  depth?: number | null;
}

/** As the graph shows it: public ids, money in major units, progress from 0 to 1. */
export function presentReferral({ referredId, referredName, accumulatedDeltaRCents, ...referral }: Referral): ReferralType {
  return {
    ...referral,
    referredAgentId: publicId('agent', referredId),
    referredAgentName: referredName,
    accumulatedDeltaR: accumulatedDeltaRCents / 100,
    // Of a churned one as far as it came.
    activationProgress: referral.activatedAt !== null ? 1 : Math.min(1, accumulatedDeltaRCents / ACTIVE_FROM_CENTS),
  };
}
