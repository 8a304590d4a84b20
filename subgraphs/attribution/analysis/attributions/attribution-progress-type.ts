import { Field, Float, Int, ObjectType } from 'type-graphql';
import { ProgressKindEnum, type ProgressKind } from '../../progress-kind-type.ts';
import type { AttributionModel, AttributionStatus } from './attribution.ts';
import { AttributionType, ChannelImpactType, ModelEnum, StatusEnum } from './attribution-type.ts';
import { presentChannels } from './present-attribution.ts';
import type { SequencedEvent } from './progress.ts';

@ObjectType('AttributionProgress', { description: 'One thing that happened to an analysis.' })
export class AttributionProgressType {
  @Field(() => Int, { description: 'Counted from 1 without gaps; pass the last one as `after` to resume.' })
  sequence!: number;
  @Field(() => ProgressKindEnum, { description: 'Which of the members below are there.' })
  kind!: ProgressKind;
  @Field(() => Float, { description: 'In [0, 1].' })
  progress!: number;
  @Field(() => String, { nullable: true, description: 'queued, loading, building_journeys, model:…, combining, signing.' })
  stage!: string | null;
  @Field(() => String, { nullable: true, description: 'What happened, for people.' })
  message!: string | null;
  @Field(() => ModelEnum, { nullable: true, description: 'The model that a CHANNEL_RESULT comes from.' })
  model!: AttributionModel | null;
  @Field(() => StatusEnum, { description: 'State of the analysis after this event.' })
  status!: AttributionStatus;
  @Field(() => [ChannelImpactType], { nullable: true, description: 'Provisional credit of one model.' })
  channelImpact!: readonly ChannelImpactType[] | null;
  @Field(() => AttributionType, { nullable: true, description: 'The finished analysis, with RESULT.' })
  result!: AttributionType | null;
  @Field(() => String, { nullable: true, description: 'Why the analysis failed, with ERROR.' })
  failureCode!: string | null;
}

/** One event as the graph shows it; `result` goes with a RESULT. */
export function presentProgress({ sequence, event }: SequencedEvent, result: AttributionType | null): AttributionProgressType {
  const nothing = { stage: null, message: null, model: null, channelImpact: null, result: null, failureCode: null };
  switch (event.kind) {
    case 'PROGRESS':
      return { ...nothing, sequence, kind: 'PROGRESS', progress: event.progress, stage: event.stage, message: event.message, status: event.stage === 'queued' ? 'pending' : 'processing' };
    case 'CHANNEL_RESULT':
      return { ...nothing, sequence, kind: 'CHANNEL_RESULT', progress: event.progress, model: event.model, channelImpact: interimChannels(event), status: 'processing' };
    case 'RESULT':
      return { ...nothing, sequence, kind: 'RESULT', progress: 1, result, status: 'completed' };
    case 'ERROR':
      return { ...nothing, sequence, kind: 'ERROR', progress: 1, message: event.failure.message, failureCode: event.failure.code, status: 'failed' };
  }
}

/** Restricted like the result that follows, so that a rank is the same in both. */
function interimChannels({ channels, revenueCents, shown }: Extract<SequencedEvent['event'], { readonly kind: 'CHANNEL_RESULT' }>): ChannelImpactType[] {
  const impact = presentChannels(channels, revenueCents);
  return shown == null ? impact : impact.filter(({ channel }) => shown.includes(channel));
}
