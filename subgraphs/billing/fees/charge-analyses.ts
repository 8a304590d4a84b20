import { z } from 'zod';
import type { EventConsumer } from '../../../services/events/relay.ts';
import { uuidFromPublicId } from '../../../platform/identifiers.ts';
import { charge } from './charge.ts';

/** What counts of `attribution.completed`; events of earlier releases say less. */
const finished = z.object({
  id: z.string(),
  status: z.string(),
  delta_r_cents: z.int().nullable(),
  currency: z.string().nullish(),
  agent_id: z.string().nullish(),
  input_digest: z.string().nullish(),
});

/**
 * Charges each completed live analysis, in the transaction that relays its event. Failed ones have no recovered
 * revenue, a later revision is another event, and reads announce nothing.
 */
export const chargeAnalyses: EventConsumer = async (em, { type, environment, data, accountId, workspaceId }) => {
  if (type !== 'attribution.completed' || environment !== 'live') return;
  const analysis = finished.parse(data);
  if (analysis.status !== 'completed' || analysis.delta_r_cents === null) return;
  const id = uuidFromPublicId('attr', analysis.id);
  const agentId = analysis.agent_id == null ? null : uuidFromPublicId('agent', analysis.agent_id);
  if (id === undefined || agentId === undefined)
    throw new Error(`the event of ${analysis.id} in the account ${accountId} has ids that are none`);
  await charge(
    em,
    { id, accountId, deltaRCents: BigInt(analysis.delta_r_cents), inputDigest: analysis.input_digest ?? null },
    { workspaceId, agentId, currency: analysis.currency ?? null },
  );
};
