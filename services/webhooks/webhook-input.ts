import { ProblemError } from '../../schema/problems.ts';
import type { Principal } from '../../schema/principal.ts';
import {
  EVENT_TYPES,
  EVERY_EVENT,
  readableEventTypes,
  scopeOfEvent,
  type EventType,
} from '../../schema/event-catalogue.ts';
import { hears, type Endpoint, type EventChoice } from './endpoint.ts';

/**
 * Nobody hears by a webhook what they could not read.
 * @throws ProblemError `insufficient_permissions` / `missing_scope`
 */
export function assertMayHear(principal: Principal, events: readonly EventChoice[]): void {
  const readable = readableEventTypes(principal.scopes);
  const beyond = events.find((type) => type !== EVERY_EVENT && !readable.includes(type));
  if (beyond === undefined || beyond === EVERY_EVENT) return;
  const scope = scopeOfEvent(beyond);
  throw new ProblemError(
    'insufficient_permissions',
    `Events of type ${beyond} need the scope ${scope}, which the key lacks. Leave the type out, or ` +
      `use a key that has the scope.`,
    { code: 'missing_scope', param: '/events', ...(scope !== null && { scope }) },
  );
}

/** The types that a subscription hears, wherever they happen. */
export function heardBy(webhook: Pick<Endpoint, 'kind' | 'events' | 'scopes'>): readonly EventType[] {
  return EVENT_TYPES.filter((type) => hears({ ...webhook, workspaceId: null }, { type, workspaceId: null }));
}
