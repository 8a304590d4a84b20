import type { EventConsumer } from '../../../services/events/relay.ts';
import { charge } from './charge.ts';
import { finishedAnalysis } from './finished-analysis.ts';

/**
 * Charges each completed live analysis, in the transaction that relays its event. Failed ones have no recovered
 * revenue, a later revision is another event, and reads announce nothing.
 */
export const chargeAnalyses: EventConsumer = async (em, event) => {
  const analysis = event.environment === 'live' ? finishedAnalysis(event) : null;
  if (analysis !== null) await charge(em, analysis, analysis);
};
