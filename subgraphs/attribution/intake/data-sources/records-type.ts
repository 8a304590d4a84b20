import { Field, Float, ID, InputType, ObjectType } from 'type-graphql';
import { connectionType } from '../../../../platform/graph/connection.ts';
import { JsonScalar } from '../../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../../../schema/trust-envelope.ts';

@ObjectType('RejectedRow', { description: 'A row that was not taken, and why.' })
export class RejectedRowType {
  @Field(() => ID, { nullable: true, description: 'The upload that brought the row.' })
  uploadId!: string | null;
  @Field(() => Float, { description: 'Line of the file, counted from 1; the header is line 1.' })
  line!: number;
  @Field(() => String, { nullable: true, description: 'The column at fault; null when the row as a whole is.' })
  column!: string | null;
  @Field(() => String, { description: 'What is wrong, for programs.' })
  code!: string;
  @Field(() => String, { description: 'What is wrong, for people.' })
  message!: string;
}

export const RejectedRowConnection = connectionType('RejectedRow', () => RejectedRowType);

@ObjectType('IngestReport', { description: 'What came of the rows of one request.' })
export class IngestReportType {
  @Field(() => String, { description: 'Kind that was detected from the header: touchpoints, conversions, spend, paths or events.' })
  kind!: string;
  @Field(() => Float, { description: 'Rows that were stored.' })
  accepted!: number;
  @Field(() => Float, { description: 'Rows that were not.' })
  rejected!: number;
  @Field(() => [RejectedRowType], { description: 'The first hundred rejected rows.' })
  errors!: readonly RejectedRowType[];
  @Field(() => [String], { description: 'What else the sender should know, such as rows that no analysis will read.' })
  warnings!: readonly string[];
}

@InputType('AddRecordsInput', { description: 'Up to 1,000 rows of one kind, as objects with the canonical column names.' })
export class AddRecordsInput {
  @Field(() => ID, { description: 'Public id of the source.' })
  dataSourceId!: string;
  @Field(() => [JsonScalar], { description: 'One object per row.' })
  records!: Record<string, unknown>[];
}

@ObjectType('AddRecordsPayload', { description: 'What came of the rows that were added.' })
export class AddRecordsPayload {
  @Field(() => IngestReportType, { description: 'What came of the rows.' })
  ingest!: IngestReportType;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the answer.' })
  trust!: TrustEnvelope;
}

export const MAX_JSON_RECORDS = 1000;
