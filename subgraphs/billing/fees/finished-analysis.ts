import { z } from 'zod';
import type { RecordedEvent } from '../../../services/events/outbox.ts';
import { uuidFromPublicId } from '../../../platform/identifiers.ts';
import type { ChargeableAnalysis, ChargeDetails } from './charge.ts';

/** What counts of `attribution.completed`; events of earlier releases say less. */
const finished = z.object({
  id: z.string(),
  status: z.string(),
  model: z.string().nullish(),
  delta_r_cents: z.int().nullable(),
  revenue_causal_cents: z.int().nullish(),
  revenue_lastclick_cents: z.int().nullish(),
  currency: z.string().nullish(),
  agent_id: z.string().nullish(),
  input_digest: z.string().nullish(),
});

/** An analysis that has completed, as its event tells it. */
export interface FinishedAnalysis extends ChargeableAnalysis, ChargeDetails {
  /** Null where the event is of a release that did not tell it. */
  readonly revenueCausalCents: number | null;
  readonly revenueLastclickCents: number | null;
}

/** Null for every event but that of an analysis which has figures. */
export function finishedAnalysis({ type, data, accountId, workspaceId }: RecordedEvent): FinishedAnalysis | null {
  if (type !== 'attribution.completed') return null;
  const analysis = finished.parse(data);
  if (analysis.status !== 'completed' || analysis.delta_r_cents === null) return null;
  const id = uuidFromPublicId('attr', analysis.id);
  const agentId = analysis.agent_id == null ? null : uuidFromPublicId('agent', analysis.agent_id);
  if (id === undefined || agentId === undefined)
    throw new Error(`the event of ${analysis.id} in the account ${accountId} has ids that are none`);
  return {
    id,
    accountId,
    workspaceId,
    agentId,
    deltaRCents: BigInt(analysis.delta_r_cents),
    inputDigest: analysis.input_digest ?? null,
    currency: analysis.currency ?? null,
    model: analysis.model ?? null,
    revenueCausalCents: analysis.revenue_causal_cents ?? null,
    revenueLastclickCents: analysis.revenue_lastclick_cents ?? null,
  };
}
