import type { AttributionProgress, ChannelImpact } from './attribution-types.ts';
import { presentChannels } from './present-attribution.ts';
import type { SequencedProgress } from './attribution-progress.ts';

/**
 * One event as the graph shows it, but for the result that goes with a RESULT, and for the trust envelope: they are
 * read where they are asked for.
 */
export function presentProgress({ sequence, event }: SequencedProgress): AttributionProgress {
  const nothing = {
    stage: null,
    message: null,
    etaSeconds: null,
    iteration: null,
    converged: null,
    model: null,
    channelImpact: null,
    result: null,
    failureCode: null,
    trust: null,
  };
  switch (event.kind) {
    case 'PROGRESS':
      return {
        ...nothing,
        sequence,
        kind: 'PROGRESS',
        progress: event.progress,
        stage: event.stage,
        message: event.message,
        etaSeconds: event.etaS ?? null,
        iteration: event.iteration ?? null,
        converged: event.converged ?? null,
        status: event.stage === 'queued' ? 'pending' : 'processing',
      };
    case 'CHANNEL_RESULT':
      return {
        ...nothing,
        sequence,
        kind: 'CHANNEL_RESULT',
        progress: event.progress,
        model: event.model,
        channelImpact: interimChannels(event),
        status: 'processing',
      };
    case 'RESULT':
      return { ...nothing, sequence, kind: 'RESULT', progress: 1, status: 'completed' };
    case 'ERROR':
      return {
        ...nothing,
        sequence,
        kind: 'ERROR',
        progress: 1,
        message: event.failure.message,
        failureCode: event.failure.code,
        status: 'failed',
      };
  }
}

/** Restricted like the result that follows, so that a rank is the same in both. */
function interimChannels({
  channels,
  revenueCents,
  shown,
}: Extract<SequencedProgress['event'], { readonly kind: 'CHANNEL_RESULT' }>): ChannelImpact[] {
  const impact = presentChannels(channels, revenueCents);
  return shown == null ? impact : impact.filter(({ channel }) => shown.includes(channel));
}
