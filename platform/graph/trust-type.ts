import 'reflect-metadata';
import { Directive, Field, Float, Int, ObjectType, registerEnumType } from 'type-graphql';
import type * as domain from '../trust/envelope.ts';
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
  @Field(() => Float) score!: number;
  @Field(() => Float) semanticEntropy!: number;
  @Field(() => Float) calibrationError!: number;
  @Field(() => Float) perplexityAnomaly!: number;
}

@ObjectType({ description: 'Risk that a claim is credited to the wrong source' })
@Directive('@shareable')
class TrustAttribution implements Readonly<Components['attribution']> {
  @Field(() => Float) score!: number;
  @Field(() => Float) factualGrounding!: number;
  @Field(() => Float) knowledgeGraphDivergence!: number;
  @Field(() => Float) promptSensitivity!: number;
}

@ObjectType({ description: 'Risk that the sources cannot be had, or are dated' })
@Directive('@shareable')
class TrustProvenance implements Readonly<Components['provenance']> {
  @Field(() => Float) score!: number;
  @Field(() => Float) sourceRetrievability!: number;
  @Field(() => Float) temporalDisplacement!: number;
  @Field(() => Float) citationReliability!: number;
}

@ObjectType({ description: 'Risk that the answer contradicts itself or others' })
@Directive('@shareable')
class TrustConsistency implements Readonly<Components['consistency']> {
  @Field(() => Float) score!: number;
  @Field(() => Float) internalConsistency!: number;
  @Field(() => Float) logicalCoherence!: number;
  @Field(() => Float) crossResponseConsistency!: number;
}

@ObjectType({ description: 'Kinds of error that were found' })
@Directive('@shareable')
class TrustTaxonomy implements Readonly<Components['taxonomy']> {
  @Field(() => Float) score!: number;
  @Field(() => [TrustClassificationEnum]) classifications!: readonly domain.TrustClassification[];
}

@ObjectType({ description: 'The five parts of the score; each is a risk from 0 to 1' })
@Directive('@shareable')
class TrustComponents implements Components {
  @Field(() => TrustDetection) detection!: Components['detection'];
  @Field(() => TrustAttribution) attribution!: Components['attribution'];
  @Field(() => TrustProvenance) provenance!: Components['provenance'];
  @Field(() => TrustConsistency) consistency!: Components['consistency'];
  @Field(() => TrustTaxonomy) taxonomy!: Components['taxonomy'];
}

@ObjectType({ description: 'What was checked against what' })
@Directive('@shareable')
class TrustVerification implements Readonly<domain.TrustEnvelope['verification']> {
  @Field() groundTruthSource!: string;
  @Field(() => Int) claimsVerified!: number;
  @Field(() => Int) claimsTotal!: number;
  @Field() confidenceIntervalsIncluded!: boolean;
  @Field() modelRunTraceable!: boolean;
}

@ObjectType({ description: 'How and when the score was made' })
@Directive('@shareable')
class TrustMetadata implements Metadata {
  @Field() hreiVersion!: string;
  @Field(() => DateTimeScalar) evaluatedAt!: Date;
  @Field(() => JsonScalar, { description: 'Weight of each component in the score; they sum to 1' }) weights!: Metadata['weights'];
}

@ObjectType({ description: 'How far the answer may be trusted; 0 is perfect trust, 1 is none' })
@Directive('@shareable')
export class TrustEnvelope implements domain.TrustEnvelope {
  @Field(() => Float) hreiScore!: number;
  @Field(() => RiskLevelEnum) riskLevel!: domain.RiskLevel;
  @Field(() => TrustComponents) components!: Components;
  @Field(() => TrustVerification) verification!: domain.TrustEnvelope['verification'];
  @Field(() => TrustMetadata) metadata!: Metadata;
}
