import type { CHANGE_TYPES } from '../../../../schema/contract/attribution-progress.ts';
import type { TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import type { RecordedEvent } from '../../../../services/events/outbox.ts';
import type { RunFailure } from '../../runs/run.ts';
import type { AttributionChange, AttributionRecord } from './attribution-types.ts';

/** Where a stream begins: nothing behind this place was missed. @param trust of records */
export function beginningAt(sequence: number, trust: TrustEnvelope): AttributionChange {
  return {
    sequence,
    kind: 'PROGRESS',
    progress: 0,
    stage: 'watching',
    message: null,
    failureCode: null,
    attributionId: null,
    channelImpact: null,
    result: null,
    trust,
  };
}

/** A change as the graph shows it, with the analysis as it is now. @param trust of records, where there is none */
export function presentChange(
  { position, type, data }: RecordedEvent,
  result: AttributionRecord | null,
  trust: TrustEnvelope,
): AttributionChange {
  const failure = data['failure'] as RunFailure | undefined;
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
    trust: result === null ? trust : result.trust,
  };
}
