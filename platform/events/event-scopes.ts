import type { Scope } from '../auth/principal.ts';
import type { EventType } from './event-catalogue.ts';

/** The scope that an event is read with, which is that of its family's reading operations (decisions, scopes); null needs authentication alone, as the agent's own profile does. */
export const SCOPE_OF_EVENT = {
  'attribution.completed': 'attribution:read',
  'attribution.updated': 'attribution:read',
  'health.alert': 'health:read',
  'health.recovered': 'health:read',
  'forecast.ready': 'attribution:read',
  'journey.milestone': 'journeys:read',
  'campaign.anomaly': 'campaigns:read',
  'billing.invoice_created': 'billing:read',
  'billing.payment_received': 'billing:read',
  'agent.tier_changed': null,
  'commission.earned': 'referrals:read',
  'commission.paid': 'referrals:read',
} as const satisfies Readonly<Record<EventType, Scope | null>>;

/** Whether a holder of these scopes may hear of events of this type. */
export function mayHear(scopes: readonly Scope[], type: EventType): boolean {
  const needed = SCOPE_OF_EVENT[type];
  return needed === null || scopes.includes(needed);
}
