import { Directive, Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { ATTRIBUTION_STATUSES, FAILURE_CODES, GRANULARITIES, MODELS } from '../../../../schema/value-lists.ts';
import { connectionType } from '../../../../platform/graph/connection.ts';
import { enumOf } from '../../../../platform/graph/enum-of.ts';
import { CentsScalar, DateScalar, DateTimeScalar, JsonScalar } from '../../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import { EnvironmentEnum } from '../../../../platform/graph/environment-type.ts';
import { ExperimentCalibrationType } from './experiment-calibration-type.ts';
import type { AttributionFailure, AttributionModel, AttributionStatus, Granularity } from './attribution.ts';

export const ModelEnum = enumOf(MODELS);
registerEnumType(ModelEnum, { name: 'AttributionModel', description: 'CAUSAL combines the five others.' });
export const StatusEnum = enumOf(ATTRIBUTION_STATUSES);
registerEnumType(StatusEnum, { name: 'AttributionStatus', description: 'Where an analysis is in its life.' });
export const GranularityEnum = enumOf(GRANULARITIES);
registerEnumType(GranularityEnum, { name: 'Granularity', description: 'Length of a period; weeks start on Monday.' });
const FailureCodeEnum = enumOf(FAILURE_CODES);
registerEnumType(FailureCodeEnum, { name: 'AttributionFailureCode', description: 'Why an analysis ended without figures.' });

@ObjectType('ConfidenceInterval', { description: 'Interval around a figure, in its unit.' })
export class ConfidenceIntervalType {
  @Field(() => Float, { description: 'Lower end.' })
  lower!: number;
  @Field(() => Float, { description: 'Upper end.' })
  upper!: number;
  @Field(() => Float, { description: 'Confidence level, 0.95 = 95 %.' })
  level!: number;
}

@ObjectType('ChannelImpact', { description: 'What one channel is credited with. Money in major units of the currency of the source.' })
export class ChannelImpactType {
  @Field(() => String, { description: 'Name of the channel, as in the touchpoints.' })
  channel!: string;
  @Field(() => Float, { nullable: true, description: 'Uplift against the counterfactual without the channel, A / (R − A), capped at 10.' })
  causalLift!: number | null;
  @Field(() => Float, { nullable: true, description: '(attributed revenue − spend) / spend; null without spend.' })
  roi!: number | null;
  @Field(() => Float, { nullable: true, description: 'Attributed revenue / spend; null without spend.' })
  roas!: number | null;
  @Field(() => Float, { description: 'What the channel cost in the range.' })
  spend!: number;
  @Field(() => Float, { description: 'Revenue that the model credits to the channel.' })
  attributedRevenue!: number;
  @Field(() => Float, { description: 'Attributed revenue of a paid channel; 0 for a baseline channel, which adds nothing by definition.' })
  incrementalRevenue!: number;
  @Field(() => Float, { nullable: true, description: '1 / (1 + width of the interval / credited total + 2 · standard deviation of the share over Markov, Shapley and PRAV), in [0, 1]. A baseline channel under causal and prav: 1. Null while the analysis runs.' })
  confidence!: number | null;
  @Field(() => ConfidenceIntervalType, { nullable: true, description: 'Of the attributed revenue, over the chance of the journeys (prav, causal: also of the placebos). A baseline channel under causal and prav: [0, 0].' })
  confidenceInterval!: ConfidenceIntervalType | null;
  @Field(() => Float, { description: 'Revenue that plain last click gives the channel.' })
  lastclickRevenue!: number;
  @Field(() => Float, { description: 'Attributed revenue − last-click revenue, signed.' })
  deltaR!: number;
  @Field(() => Float, { description: 'Conversions that the model credits to the channel, in fractions.' })
  conversions!: number;
  @Field(() => Float, { description: 'Share of the credited total.' })
  share!: number;
  @Field(() => Int, { description: '1 is the channel with the highest attributed revenue.' })
  rank!: number;
  @Field(() => Boolean, { description: 'True for channels that are there without marketing.' })
  isBaseline!: boolean;
}

@ObjectType('TimeSeriesPoint', { description: 'The credit of one period, UTC. Every column sums over the periods to the figure of the whole range, to the cent.' })
export class TimeSeriesPointType {
  @Field(() => DateScalar, { description: 'First day of the whole period; ahead of the range where the first period is partial.' })
  periodStart!: string;
  @Field(() => Boolean, { description: 'True where the range covers a part of the period only: at either end of weeks and months.' })
  partial!: boolean;
  @Field(() => Float, { description: 'Revenue of the conversions of the period.' })
  revenue!: number;
  @Field(() => Float, { description: 'The part of the baseline revenue that falls to the period.' })
  baselineRevenue!: number;
  @Field(() => JsonScalar, { description: 'Attributed revenue by channel.' })
  channels!: Readonly<Record<string, number>>;
}

@ObjectType('CampaignImpact', { description: 'What one campaign of a channel is credited with. The campaigns of a channel sum to the channel, to the cent. Money in major units of the currency of the source.' })
export class CampaignImpactType {
  @Field(() => String, { description: 'Name of the channel, as in the touchpoints.' })
  channel!: string;
  @Field(() => String, { nullable: true, description: 'Name of the campaign, as in the touchpoints; null for what names none.' })
  campaign!: string | null;
  @Field(() => Float, { description: 'What the campaign cost in the range.' })
  spend!: number;
  @Field(() => Float, { description: 'Touchpoints of the campaign in the range.' })
  touches!: number;
  @Field(() => Float, { description: 'Revenue that the model credits to the campaign.' })
  attributedRevenue!: number;
  @Field(() => Float, { description: 'Revenue that plain last click gives the campaign.' })
  lastclickRevenue!: number;
  @Field(() => Float, { description: 'Attributed revenue − last-click revenue, signed.' })
  deltaR!: number;
  @Field(() => Float, { nullable: true, description: '(attributed revenue − spend) / spend; null without spend.' })
  roi!: number | null;
  @Field(() => Float, { nullable: true, description: 'Attributed revenue / spend; null without spend.' })
  roas!: number | null;
}

@ObjectType('AttributionFailure', { description: 'Why an analysis ended without figures.' })
export class AttributionFailureType {
  @Field(() => FailureCodeEnum, { description: 'What went wrong, for programs.' })
  code!: AttributionFailure['code'];
  @Field(() => String, { description: 'What went wrong and what to do, for people.' })
  message!: string;
}

@ObjectType('AttributionDiagnostics', { description: 'How the analysis went.' })
export class DiagnosticsType {
  @Field(() => Float, { description: 'Journeys that the models saw.' })
  journeys!: number;
  @Field(() => Float, { description: 'Those that ended in a conversion.' })
  convertingJourneys!: number;
  @Field(() => Float, { description: 'Touchpoints in all journeys.' })
  touches!: number;
  @Field(() => Boolean, { description: 'False when the solver of the Markov chain stopped short of its tolerance.' })
  converged!: boolean;
  @Field(() => Int, { description: 'Iterations of the sparse solver; 0 where one factorisation solved the chain.' })
  iterations!: number;
  @Field(() => Int, { description: 'From the first row read to the last figure, milliseconds.' })
  elapsedMs!: number;
  @Field(() => String, { description: 'Seed of the sampled models.' })
  seed!: string;
  @Field(() => String, { description: 'Digest of the figures alone: a re-run on the same rows gives the same.' })
  runDigest!: string;
  @Field(() => [String], { description: 'What the reader of the figures should know.' })
  warnings!: readonly string[];
  @Field(() => [ExperimentCalibrationType], { description: 'Experiments that calibrated the causal credit, beside what the model said without them.' })
  experiments!: readonly ExperimentCalibrationType[];
  @Field(() => JsonScalar, { description: 'What each model reports of itself.' })
  models!: unknown;
}

@Directive('@key(fields: "id")')
@ObjectType('Attribution', { description: 'One analysis: what each channel added, by one model.' })
export class AttributionType {
  @Field(() => ID, { description: 'Public id, attr_ and 22 characters.' })
  id!: string;
  @Field(() => StatusEnum, { description: 'Where the analysis is in its life.' })
  status!: AttributionStatus;
  @Field(() => ModelEnum, { description: 'Whose credit channelImpact shows.' })
  model!: AttributionModel;
  @Field(() => ID, { description: 'Public id of the source that was analysed.' })
  dataSourceId!: string;
  @Field(() => [DateScalar], { description: 'Start and end, both included, UTC days.' })
  dateRange!: readonly string[];
  @Field(() => [ChannelImpactType], { description: 'Every channel, highest attributed revenue first; empty until completed.' })
  channelImpact!: readonly ChannelImpactType[];
  @Field(() => String, { description: 'The models that ran and how they were combined.' })
  methodology!: string;
  @Field(() => Float, { nullable: true, description: 'Revenue-weighted mean of the channels’ confidence.' })
  confidence!: number | null;
  @Field(() => DateTimeScalar, { description: 'When the analysis was asked for.' })
  createdAt!: Date;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it completed or failed; null until then.' })
  completedAt!: Date | null;
  @Field(() => GranularityEnum, { description: 'Period that was asked for.' })
  granularity!: Granularity;
  @Field(() => [String], { nullable: true, description: 'The channels that the answer was restricted to; null for all.' })
  channels!: readonly string[] | null;
  @Field(() => String, { nullable: true, description: 'ISO 4217; null until completed.' })
  currency!: string | null;
  @Field(() => EnvironmentEnum, { description: 'Whose data the figures rest on.' })
  environment!: 'live' | 'sandbox';
  @Field(() => Boolean, { description: 'Whether it is run again when late rows change the revenue of its range by 0.1 % or more.' })
  autoRefresh!: boolean;
  @Field(() => Int, { description: '1, and one more whenever late rows changed the figures.' })
  revision!: number;
  @Field(() => Float, { nullable: true, description: 'All conversions of the range.' })
  conversions!: number | null;
  @Field(() => Float, { nullable: true, description: 'All revenue of the range.' })
  revenue!: number | null;
  @Field(() => Float, { nullable: true, description: 'Revenue that no channel is credited with.' })
  baselineRevenue!: number | null;
  @Field(() => Float, { nullable: true, description: 'Revenue of conversions without any touchpoint.' })
  unattributedRevenue!: number | null;
  @Field(() => Int, { description: 'How far a journey reaches back before its conversion.' })
  lookbackWindowDays!: number;
  @Field(() => String, { description: 'The event that counts as a conversion.' })
  conversionEvent!: string;
  @Field(() => Float, { description: 'Level of the intervals.' })
  confidenceLevel!: number;
  @Field(() => CentsScalar, { nullable: true, description: 'Last-click revenue of the paid channels that last click under-credits.' })
  revenueLastclickCents!: number | null;
  @Field(() => CentsScalar, { nullable: true, description: 'Attributed revenue of the same channels.' })
  revenueCausalCents!: number | null;
  @Field(() => CentsScalar, { nullable: true, description: 'Recovered revenue: the difference of the two, never negative.' })
  deltaRCents!: number | null;
  @Field(() => CentsScalar, { nullable: true, description: 'Signed sum over all paid channels.' })
  deltaRNetCents!: number | null;
  @Field(() => JsonScalar, { nullable: true, description: 'Share per channel, by model.' })
  modelBreakdown!: unknown;
  @Field(() => JsonScalar, { nullable: true, description: 'Revenue per channel, by last click, first click, linear, time decay and position.' })
  comparison!: unknown;
  @Field(() => [TimeSeriesPointType], { nullable: true, description: 'The credit by period of the granularity, in order; null until completed, and where the source holds aggregated paths, which have no times.' })
  timeSeries!: readonly TimeSeriesPointType[] | null;
  @Field(() => [CampaignImpactType], { nullable: true, description: 'The credit by campaign, highest attributed revenue first; null until completed, and where the source holds aggregated paths or names too many campaigns to tell apart.' })
  campaigns!: readonly CampaignImpactType[] | null;
  @Field(() => DiagnosticsType, { nullable: true, description: 'How the analysis went; null until completed.' })
  diagnostics!: DiagnosticsType | null;
  @Field(() => Float, { description: 'In [0, 1].' })
  progress!: number;
  @Field(() => AttributionFailureType, { nullable: true, description: 'Null unless the status is FAILED.' })
  failure!: AttributionFailureType | null;
  @Field(() => ID, { nullable: true, description: 'The agent that served the source when the analysis was asked for.' })
  agentId!: string | null;
  @Field(() => ID, { nullable: true, description: 'Public id of the workspace that the analysis lies in; null for none.' })
  workspaceId!: string | null;
  @Field(() => String, { nullable: true, description: 'JWS (EdDSA) over the digest of the result in REST’s form; null until completed, while a refresh is under way, and on results that are older than signatures.' })
  signature!: string | null;
  @Field(() => TrustEnvelopeType, { nullable: true, description: 'How far the figures can be trusted, judged at the moment of reading. The record envelope until completed; null only where the evidence was not kept: analyses of older versions.' })
  trust!: TrustEnvelope | null;
}

export const AttributionConnection = connectionType('Attribution', () => AttributionType);

@ObjectType('CancelAttributionPayload', { description: 'The analysis that was cancelled.' })
export class CancelAttributionPayload {
  @Field(() => AttributionType, { description: 'FAILED, with the failure code CANCELLED.' })
  attribution!: AttributionType;
  @Field(() => TrustEnvelopeType, { nullable: true, description: 'Trust envelope of the analysis.' })
  trust!: TrustEnvelope | null;
}

@ObjectType('RunAttributionPayload', { description: 'The analysis that was accepted.' })
export class RunAttributionPayload {
  @Field(() => AttributionType, { description: 'The analysis, usually still pending.' })
  attribution!: AttributionType;
  @Field(() => TrustEnvelopeType, { nullable: true, description: 'Trust envelope of the analysis.' })
  trust!: TrustEnvelope | null;
}

@ObjectType('DeleteAttributionPayload', { description: 'The analysis that was deleted.' })
export class DeleteAttributionPayload {
  @Field(() => ID, { description: 'Public id of the analysis that is gone.' })
  id!: string;
  @Field(() => Boolean, { description: 'True.' })
  deleted!: boolean;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the answer.' })
  trust!: TrustEnvelope;
}
