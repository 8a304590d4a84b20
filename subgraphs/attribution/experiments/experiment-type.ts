import { Field, Float, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { EXPERIMENT_METHODS } from '../../../schema/value-lists.ts';
import type { Environment } from '../../../platform/auth/principal.ts';
import { connectionType } from '../../../platform/graph/connection.ts';
import { enumOf } from '../../../platform/graph/enum-of.ts';
import { DateScalar, DateTimeScalar } from '../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../../platform/trust/envelope.ts';
import { EnvironmentEnum } from '../environment-type.ts';
import type { ExperimentMethod } from './experiment.ts';

export const ExperimentMethodEnum = enumOf(EXPERIMENT_METHODS);
registerEnumType(ExperimentMethodEnum, { name: 'ExperimentMethod', description: 'HOLDOUT kept people away from the channel, GEO places.' });

@ObjectType('Experiment', { description: 'What one channel added to the revenue of the shop over a period, as an experiment measured it.' })
export class ExperimentType {
  @Field(() => ID, { description: 'Public id, exp_ and 22 characters.' })
  id!: string;
  @Field(() => ID, { description: 'Public id of the source whose channel was measured.' })
  dataSourceId!: string;
  @Field(() => String, { description: 'Name of the channel, as in the touchpoints.' })
  channel!: string;
  @Field(() => ExperimentMethodEnum, { description: 'Who or what was kept away from the channel.' })
  method!: ExperimentMethod;
  @Field(() => [DateScalar], { description: 'First and last day of the measurement, both included, UTC.' })
  period!: readonly string[];
  @Field(() => Float, { description: 'Revenue that the channel added in the period, for the whole shop; major units, may be negative.' })
  incrementalRevenue!: number;
  @Field(() => Float, { description: 'Standard error of it, major units.' })
  standardError!: number;
  @Field(() => String, { description: 'ISO 4217; the currency of the source.' })
  currency!: string;
  @Field(() => String, { nullable: true, description: 'What people should know of it.' })
  notes!: string | null;
  @Field(() => EnvironmentEnum, { description: 'Calibrates analyses of this environment.' })
  environment!: Environment;
  @Field(() => DateTimeScalar, { description: 'When it was recorded.' })
  createdAt!: Date;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of this record.' })
  trust!: TrustEnvelope;
}

export const ExperimentConnection = connectionType('Experiment', () => ExperimentType);

@InputType('ExperimentFilter', { description: 'Narrows a list of experiments.' })
export class ExperimentFilterInput {
  @Field(() => ID, { nullable: true, description: 'Only those of this source.' })
  dataSourceId?: string | null;
  @Field(() => String, { nullable: true, description: 'Only those of this channel.' })
  channel?: string | null;
}

@InputType('CreateExperimentInput', { description: 'The result of an experiment.' })
export class CreateExperimentInput {
  @Field(() => ID, { description: 'Public id of a source of the account.' })
  dataSourceId!: string;
  @Field(() => String, { description: 'A channel that the source has rows of.' })
  channel!: string;
  @Field(() => ExperimentMethodEnum, { description: 'Who or what was kept away from the channel.' })
  method!: ExperimentMethod;
  @Field(() => [DateScalar], { description: 'Exactly two dates, first and last day, both included.' })
  period!: string[];
  @Field(() => Float, { description: 'Revenue that the channel added in the period, for the whole shop; major units.' })
  incrementalRevenue!: number;
  @Field(() => Float, { description: 'Standard error of it, major units; at least 0.01.' })
  standardError!: number;
  @Field(() => String, { nullable: true, description: 'Defaults to the currency of the source; another one is refused.' })
  currency?: string | null;
  @Field(() => String, { nullable: true, description: 'Up to 2,000 characters.' })
  notes?: string | null;
}

@ObjectType('CreateExperimentPayload', { description: 'The experiment that was recorded.' })
export class CreateExperimentPayload {
  @Field(() => ExperimentType, { description: 'The new experiment.' })
  experiment!: ExperimentType;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the experiment.' })
  trust!: TrustEnvelope;
}

@InputType('DeleteExperimentInput', { description: 'An experiment to delete.' })
export class DeleteExperimentInput {
  @Field(() => ID, { description: 'Public id of the experiment.' })
  id!: string;
}

@ObjectType('DeleteExperimentPayload', { description: 'The experiment that was deleted.' })
export class DeleteExperimentPayload {
  @Field(() => ID, { description: 'Public id of the experiment that is gone.' })
  id!: string;
  @Field(() => Boolean, { description: 'True.' })
  deleted!: boolean;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the answer.' })
  trust!: TrustEnvelope;
}
