import type { Environment, Scope } from '../../schema/principal.ts';
import type { Uuid } from '../../platform/identifiers.ts';
import type { DISABLED_REASONS } from '../../schema/value-lists.ts';
import { EVERY_EVENT, readableEventTypes, type EventType } from '../../schema/event-catalogue.ts';

export type EventChoice = EventType | typeof EVERY_EVENT;

/**
 * Events that failed one after the other, every attempt at them included, before nobody is believed to listen
 * (decisions, webhooks).
 */
export const MAX_FAILED_EVENTS = 20;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Where events go: a webhook that its owner manages, or the callback of an agent, which only hears of commissions. */
export interface Endpoint {
  readonly id: Uuid;
  readonly kind: 'webhook' | 'callback';
  readonly accountId: Uuid;
  readonly environment: Environment;
  /** The only workspace whose events it hears of; null: all events of the account. */
  readonly workspaceId: Uuid | null;
  readonly url: string;
  readonly events: readonly EventChoice[];
  readonly scopes: readonly Scope[];
  readonly isActive: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** The part of the secret that may be shown, with an ellipsis. */
  readonly secretPrefix: string;
  /** Dated version that its messages follow. */
  readonly apiVersion: string;
  /** Events that arrived, and events that were given up. */
  readonly delivered: number;
  readonly failed: number;
  readonly lastSuccessAt: Date | null;
  /** Of an attempt. */
  readonly lastFailureAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Whether an endpoint asked for an event: by its type, by what its maker may hear of, and by where it happened. */
export function hears(
  { kind, events, scopes, workspaceId }: Pick<Endpoint, 'kind' | 'events' | 'scopes' | 'workspaceId'>,
  event: { readonly type: EventType; readonly workspaceId: Uuid | null },
): boolean {
  if (workspaceId !== null && workspaceId !== event.workspaceId) return false;
  if (kind === 'callback') return event.type.startsWith('commission.');
  return (
    events.includes(event.type) || (events.includes(EVERY_EVENT) && readableEventTypes(scopes).includes(event.type))
  );
}
