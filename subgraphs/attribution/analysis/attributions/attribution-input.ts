import { Field, Float, ID, InputType, Int } from 'type-graphql';
import { DateScalar, DateTimeScalar } from '../../../../platform/graph/scalars.ts';
import type { AttributionModel, AttributionStatus, Granularity } from './attribution.ts';
import { GranularityEnum, ModelEnum, StatusEnum } from './attribution-type.ts';

@InputType('ModelOptions', { description: 'Options of single models.' })
export class ModelOptionsInput {
  @Field(() => Int, { nullable: true, description: 'Order of the Markov chain, 1 to 4; defaults to 1.' })
  markovOrder?: number | null;
}

@InputType('RunAttributionInput', { description: 'An analysis to run.' })
export class RunAttributionInput {
  @Field(() => ID, { description: 'Public id of a source of the account.' })
  dataSourceId!: string;
  @Field(() => [DateScalar], { description: 'Exactly two dates, start and end, both included.' })
  dateRange!: string[];
  @Field(() => ModelEnum, { nullable: true, description: 'Defaults to CAUSAL.' })
  model?: AttributionModel | null;
  @Field(() => GranularityEnum, { nullable: true, description: 'Defaults to DAILY.' })
  granularity?: Granularity | null;
  @Field(() => [String], { nullable: true, description: 'Restricts the answer to these channels; the journeys still know all of them.' })
  channels?: string[] | null;
  @Field(() => Int, { nullable: true, description: '1 to 90; defaults to 30.' })
  lookbackWindowDays?: number | null;
  @Field(() => String, { nullable: true, description: 'Defaults to purchase.' })
  conversionEvent?: string | null;
  @Field(() => Float, { nullable: true, description: '0.80 to 0.99; defaults to 0.95.' })
  confidenceLevel?: number | null;
  @Field(() => [String], { nullable: true, description: 'Overrides the baseline channels of the source.' })
  baselineChannels?: string[] | null;
  @Field(() => ModelOptionsInput, { nullable: true, description: 'Options of single models.' })
  modelOptions?: ModelOptionsInput | null;
  @Field(() => ID, { nullable: true, description: 'Workspace to put the analysis into; the one that the request acts in, or that of the source, when absent.' })
  workspaceId?: string | null;
  @Field(() => ID, { nullable: true, description: 'The serving agent; that of the source when absent. An account without an agent may name any.' })
  agentId?: string | null;
  @Field(() => Boolean, { nullable: true, description: 'Runs the analysis again, at no cost, whenever late rows change the revenue of its range by 0.1 % or more; defaults to false.' })
  autoRefresh?: boolean | null;
}

@InputType('CancelAttributionInput', { description: 'The analysis to cancel.' })
export class CancelAttributionInput {
  @Field(() => ID, { description: 'Public id of an analysis that has not ended.' })
  id!: string;
}

@InputType('DeleteAttributionInput', { description: 'The analysis to delete.' })
export class DeleteAttributionInput {
  @Field(() => ID, { description: 'Public id of an analysis that has ended.' })
  id!: string;
}

@InputType('AttributionFilter', { description: 'Narrows a list of analyses.' })
export class AttributionFilterInput {
  @Field(() => StatusEnum, { nullable: true, description: 'Only those in this state.' })
  status?: AttributionStatus | null;
  @Field(() => ModelEnum, { nullable: true, description: 'Only those of this model.' })
  model?: AttributionModel | null;
  @Field(() => ID, { nullable: true, description: 'Only those of this source.' })
  dataSourceId?: string | null;
  @Field(() => ID, { nullable: true, description: 'Only those that this agent served.' })
  agentId?: string | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Only those asked for later.' })
  createdAfter?: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Only those asked for earlier.' })
  createdBefore?: Date | null;
}
