import type { RunEvent, SequencedEvent, StageEvent } from '../../runs/run-progress.ts';
import type { AttributionModel } from './attribution.ts';
import type { ChannelFigures } from './figures.ts';

/** Where an analysis is; the order is the order of the work. `queued` and `signing` are those of every run. */
export type Stage = 'loading' | 'building_journeys' | `model:${AttributionModel}` | 'combining' | 'intervals';

/** What one model found, before the others have. `shown`: the channels that the analysis is restricted to, if it is. */
export interface ChannelResult {
  readonly kind: 'CHANNEL_RESULT';
  readonly model: AttributionModel;
  readonly progress: number;
  readonly revenueCents: number;
  readonly channels: readonly ChannelFigures[];
  readonly shown?: readonly string[] | null;
}

/** One thing that a watcher of an analysis is told. */
export type ProgressEvent = RunEvent<ChannelResult>;
export type SequencedProgress = SequencedEvent<ChannelResult>;

export function stage(name: Stage, progress: number, message: string): StageEvent {
  return { kind: 'PROGRESS', stage: name, progress, message };
}
