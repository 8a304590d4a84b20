import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { EventType } from '../../../../schema/event-catalogue.ts';
import type { RecordedEvent } from '../../../../services/events/outbox.ts';
import { ProgressKindEnum, type ProgressKind } from '../../progress-kind-type.ts';
import { AttributionType, ChannelImpactType } from './attribution-type.ts';

/** Events of a source's analyses; `data` of each names analysis, source and, where it failed, why. */
export const CHANGE_TYPES = ['attribution.completed', 'attribution.updated'] as const satisfies readonly EventType[];

@ObjectType('AttributionChange', { description: 'One change among the analyses of a source.' })
export class AttributionChangeType {
  @Field(() => Int, { description: 'Rises with every change; pass the last one as `after` to resume.' })
  sequence!: number;
  @Field(() => ProgressKindEnum, { description: 'RESULT: an analysis was completed or updated. ERROR: it failed or was cancelled. PROGRESS: the stage watching, which the stream begins with.' })
  kind!: ProgressKind;
  @Field(() => Float, { description: '1 with an analysis, 0 without.' })
  progress!: number;
  @Field(() => String, { description: 'watching, attribution.completed or attribution.updated.' })
  stage!: 'watching' | (typeof CHANGE_TYPES)[number];
  @Field(() => String, { nullable: true, description: 'Why an analysis failed, for people.' })
  message!: string | null;
  @Field(() => String, { nullable: true, description: 'Why an analysis failed, for programs; cancelled among others.' })
  failureCode!: string | null;
  @Field(() => ID, { nullable: true, description: 'The analysis; null for the stage watching.' })
  attributionId!: string | null;
  @Field(() => [ChannelImpactType], { nullable: true, description: 'That of the result.' })
  channelImpact!: readonly ChannelImpactType[] | null;
  @Field(() => AttributionType, { nullable: true, description: 'The analysis as it is now, which may be later than the change; null once it is gone.' })
  result!: AttributionType | null;
}

/** Where a stream begins: nothing behind this place was missed. */
export function beginningAt(sequence: number): AttributionChangeType {
  return { sequence, kind: 'PROGRESS', progress: 0, stage: 'watching', message: null, failureCode: null, attributionId: null, channelImpact: null, result: null };
}

/** A change as the graph shows it, with the analysis as it is now. */
export function presentChange({ position, type, data }: RecordedEvent, result: AttributionType | null): AttributionChangeType {
  const failure = data['failure'] as { readonly code: string; readonly message: string } | undefined;
  return {
    sequence: position,
    kind: failure === undefined ? 'RESULT' : 'ERROR',
    progress: 1,
    stage: type as (typeof CHANGE_TYPES)[number],
    message: failure?.message ?? null,
    failureCode: failure?.code ?? null,
    attributionId: String(data['id']),
    channelImpact: result?.channelImpact ?? null,
    result,
  };
}
