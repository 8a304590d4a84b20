import 'reflect-metadata';
import { Directive, Field, Float, Int, ObjectType, registerEnumType } from 'type-graphql';
import type * as domain from '../../schema/trust-envelope.ts';
import { DateTimeScalar, JsonScalar } from './scalars.ts';

/** GraphQL names on the left, the domain's values on the right: resolvers return the domain's. */
const RiskLevelEnum = { MINIMAL: 'minimal', LOW: 'low', MODERATE: 'moderate', HIGH: 'high', CRITICAL: 'critical' } as const satisfies Record<
  Uppercase<domain.RiskLevel>,
  domain.RiskLevel
>;
registerEnumType(RiskLevelEnum, { name: 'RiskLevel', description: 'How much care an answer needs' });

const TrustClassificationEnum = {
  FABRICATION: 'fabrication',
  MISATTRIBUTION: 'misattribution',
  OUTDATED_REFERENCE: 'outdated_reference',
  REASONING_FAILURE: 'reasoning_failure',
} as const satisfies Record<Uppercase<domain.TrustClassification>, domain.TrustClassification>;
registerEnumType(TrustClassificationEnum, { name: 'TrustClassification', description: 'A way in which an answer may be wrong' });

type Components = domain.TrustEnvelope['components'];
type Metadata = domain.TrustEnvelope['metadata'];

@ObjectType({ description: 'Risk that the answer claims what was not observed' })
@Directive('@shareable')
class TrustDetection implements Readonly<Components['detection']> {
  @Field(() => Float, { description: 'Mean of the three' }) score!: number;
  @Field(() => Float, { description: 'How often resampled data ranks the channels differently: entropy of the rankings' }) semanticEntropy!: number;
  @Field(() => Float, { description: 'Distance between predicted and observed conversion rates on held-out journeys' }) calibrationError!: number;
  @Field(() => Float, { description: 'How unlike the reference period the journeys are' }) perplexityAnomaly!: number;
}

@ObjectType({ description: 'Risk that a claim is credited to the wrong source' })
@Directive('@shareable')
class TrustAttribution implements Readonly<Components['attribution']> {
  @Field(() => Float, { description: 'Mean of the three' }) score!: number;
  @Field(() => Float, { description: 'Share of claims that a second computation does not confirm' }) factualGrounding!: number;
  @Field(() => Float, { description: 'Distance between the channel transitions of this period and the reference period' }) knowledgeGraphDivergence!: number;
  @Field(() => Float, { description: 'How far shares move when days or the lookback change a little' }) promptSensitivity!: number;
}

@ObjectType({ description: 'Risk that the sources cannot be retrieved, or are out of date' })
@Directive('@shareable')
class TrustProvenance implements Readonly<Components['provenance']> {
  @Field(() => Float, { description: 'Mean of the three' }) score!: number;
  @Field(() => Float, { description: 'Share of the evidence that can no longer be read as it was' }) sourceRetrievability!: number;
  @Field(() => Float, { description: 'Grows with the age of the newest evidence' }) temporalDisplacement!: number;
  @Field(() => Float, { description: '1 minus the health of the sources' }) citationReliability!: number;
}

@ObjectType({ description: 'Risk that the answer contradicts itself or others' })
@Directive('@shareable')
class TrustConsistency implements Readonly<Components['consistency']> {
  @Field(() => Float, { description: 'Mean of the three' }) score!: number;
  @Field(() => Float, { description: 'Part of the revenue by which the sums miss the total' }) internalConsistency!: number;
  @Field(() => Float, { description: 'Share of invariants that are violated' }) logicalCoherence!: number;
  @Field(() => Float, { description: 'How far the models disagree on the shares' }) crossResponseConsistency!: number;
}

@ObjectType({ description: 'Kinds of error that were found' })
@Directive('@shareable')
class TrustTaxonomy implements Readonly<Components['taxonomy']> {
  @Field(() => Float, { description: 'Number of classifications, divided by 4' }) score!: number;
  @Field(() => [TrustClassificationEnum], { description: 'Each at most once; empty when nothing was found' }) classifications!: readonly domain.TrustClassification[];
}

@ObjectType({ description: 'The five parts of the score; each is a risk from 0 to 1' })
@Directive('@shareable')
class TrustComponents implements Components {
  @Field(() => TrustDetection, { description: 'Claims of what was not observed' }) detection!: Components['detection'];
  @Field(() => TrustAttribution, { description: 'Claims credited to the wrong source' }) attribution!: Components['attribution'];
  @Field(() => TrustProvenance, { description: 'Sources that cannot be retrieved, or are out of date' }) provenance!: Components['provenance'];
  @Field(() => TrustConsistency, { description: 'Contradictions' }) consistency!: Components['consistency'];
  @Field(() => TrustTaxonomy, { description: 'Kinds of error' }) taxonomy!: Components['taxonomy'];
}

@ObjectType({ description: 'What was checked against what' })
@Directive('@shareable')
class TrustVerification implements Readonly<domain.TrustEnvelope['verification']> {
  @Field({ description: 'What claims are checked against; system_of_record for records' }) groundTruthSource!: string;
  @Field(() => Int, { description: 'Figures that a second, independent path confirms' }) claimsVerified!: number;
  @Field(() => Int, { description: 'Figures in the answer; for records, the records' }) claimsTotal!: number;
  @Field({ description: 'Whether the answer carries intervals' }) confidenceIntervalsIncluded!: boolean;
  @Field({ description: 'Whether the run can be repeated bit by bit from what is stored' }) modelRunTraceable!: boolean;
}

@ObjectType({ description: 'How and when the score was made' })
@Directive('@shareable')
class TrustMetadata implements Metadata {
  @Field({ description: 'Version of the definitions' }) hreiVersion!: string;
  @Field(() => DateTimeScalar, { description: 'When the score was made' }) evaluatedAt!: Date;
  @Field(() => JsonScalar, { description: 'Weight of each component in the score; they sum to 1' }) weights!: Metadata['weights'];
}

@ObjectType({ description: 'How far the answer may be trusted; 0 is perfect trust, 1 is none' })
@Directive('@shareable')
export class TrustEnvelope implements domain.TrustEnvelope {
  @Field(() => Float, { description: 'Weighted mean of the components' }) hreiScore!: number;
  @Field(() => RiskLevelEnum, { description: 'Band of the score: up to 0.20, 0.40, 0.60, 0.80, 1' }) riskLevel!: domain.RiskLevel;
  @Field(() => TrustComponents, { description: 'Where the risk comes from' }) components!: Components;
  @Field(() => TrustVerification, { description: 'What was checked' }) verification!: domain.TrustEnvelope['verification'];
  @Field(() => TrustMetadata, { description: 'How the score was made' }) metadata!: Metadata;
}
