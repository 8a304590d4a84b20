import { Field, Float, Int, ObjectType } from 'type-graphql';
import { ProgressKindEnum, type ProgressKind } from '../../progress-kind-type.ts';
import { DataSourceType } from './data-source-type.ts';

@ObjectType('DataSourceChange', { description: 'The state of a source after a change.' })
export class SourceChangeType {
  @Field(() => Int, { description: 'Rises with every change; pass the last one as `after` to resume.' })
  sequence!: number;
  @Field(() => ProgressKindEnum, { description: 'PROGRESS while rows arrive, RESULT when they have, ERROR after a sync that failed.' })
  kind!: ProgressKind;
  @Field(() => Float, { nullable: true, description: '1 when nothing is under way; null while rows arrive, since nobody knows how many will.' })
  progress!: number | null;
  @Field(() => String, { description: 'connected, syncing or error.' })
  stage!: string;
  @Field(() => String, { nullable: true, description: 'Why the last sync failed, for people.' })
  message!: string | null;
  @Field(() => String, { nullable: true, description: 'Why the last sync failed, for programs.' })
  failureCode!: string | null;
  @Field(() => DataSourceType, { description: 'The source; detail.currentSync is what is under way.' })
  result!: DataSourceType;
}
