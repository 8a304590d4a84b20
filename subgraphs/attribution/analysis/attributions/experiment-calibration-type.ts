import { Field, Float, ID, ObjectType, registerEnumType } from 'type-graphql';
import { experimentMethod } from '../../../../schema/contract/experiments.ts';
import { enumTypeOf } from '../../../../platform/graph/contract-types.ts';
import { enumOf } from '../../../../platform/graph/enum-of.ts';
import { DateScalar } from '../../../../platform/graph/scalars.ts';
import type { ExperimentCalibration } from './figures.ts';

const ExperimentMethodEnum = enumTypeOf(experimentMethod);
const BasisEnum = enumOf(['touches', 'days'] as const);
registerEnumType(BasisEnum, { name: 'ExperimentBasis', description: 'What the period of an experiment and the range of an analysis were compared by.' });

@ObjectType('ExperimentCalibration', { description: 'What an experiment said of the range of an analysis, and what that did to the credit. Money in major units.' })
export class ExperimentCalibrationType {
  @Field(() => ID, { description: 'Public id of the experiment; it may be gone by now.' })
  id!: string;
  @Field(() => String, { description: 'The channel that was measured.' })
  channel!: string;
  @Field(() => ExperimentMethodEnum, { description: 'Who or what was kept away from the channel.' })
  method!: ExperimentCalibration['method'];
  @Field(() => [DateScalar], { description: 'First and last day of the measurement.' })
  period!: readonly string[];
  @Field(() => Float, { description: 'Measured over the period.' })
  measuredIncrementalRevenue!: number;
  @Field(() => Float, { description: 'Standard error over the period.' })
  measuredStandardError!: number;
  @Field(() => Float, { description: 'Carried over to the range.' })
  incrementalRevenue!: number;
  @Field(() => Float, { description: 'Standard error for the range, wider the less period and range share.' })
  standardError!: number;
  @Field(() => Float, { description: 'Share of the period in the range times share of the range in the period, in (0, 1].' })
  overlap!: number;
  @Field(() => BasisEnum, { description: 'What the shares are of: the touches of the channel, or days.' })
  basis!: ExperimentCalibration['basis'];
  @Field(() => Float, { description: 'What the model credited to the channel without any experiment.' })
  modelIncrementalRevenueBefore!: number;
  @Field(() => Float, { description: 'What it credits with all of them.' })
  modelIncrementalRevenueAfter!: number;
}
