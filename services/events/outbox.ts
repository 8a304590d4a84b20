import type { Environment } from '../../schema/principal.ts';
import { newUuid, type Uuid } from '../../platform/identifiers.ts';
import type { Database, SqlEntityManager, TenantScope } from '../../platform/postgres/database.ts';
import type { PubSub } from '../../platform/postgres/pub-sub.ts';
import type { EventData, EventType } from '../../schema/event-catalogue.ts';

/** Something that happened, as its transaction records it. */
export interface NewEvent<Type extends EventType = EventType> {
  /** UUID of the tenant. */
  readonly accountId: Uuid;
  readonly environment: Environment;
  readonly type: Type;
  /** What it happened to: a public id. Events of one subject stay in order. */
  readonly subject: string;
  readonly data: EventData<Type>;
  /** The workspace that it happened in; in none of them when absent. */
  readonly workspaceId?: Uuid | null | undefined;
}

/** An event in the outbox. */
export interface RecordedEvent {
  readonly eventId: Uuid;
  readonly accountId: Uuid;
  readonly environment: Environment;
  readonly type: EventType;
  readonly subject: string;
  /** Its place among the events of its subject, counted from 1 without gaps. */
  readonly sequence: number;
  /** Its place among all events of its account and environment, in the order of the commits. */
  readonly position: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly occurredAt: Date;
  readonly workspaceId: Uuid | null;
}

interface OutboxRow {
  event_id: Uuid;
  account_id: Uuid;
  environment: Environment;
  type: EventType;
  subject: string;
  sequence: number;
  position: number;
  data: Record<string, unknown>;
  occurred_at: string | Date;
  workspace_id: Uuid | null;
}

/** Wakes the relay; carries nothing. */
export const RELAY_TOPIC = 'events-recorded';

/** Where those who watch an account are told of its events, each a {@link RecordedEvent} as JSON. */
export function accountTopic(accountId: string, environment: Environment): string {
  return `events:${accountId}:${environment}`;
}

/**
 * Records an event in the caller's transaction, whose tenant it belongs to: what is rolled back has not happened, and
 * what is committed reaches everyone who asked to hear of it. Watchers are told at the commit, the relay does the rest.
 * Record it last: until the commit, no other transaction of the account records anything.
 */
export async function recordEvent<Type extends EventType>(
  em: SqlEntityManager,
  pubSub: PubSub,
  event: NewEvent<Type>,
): Promise<RecordedEvent> {
  const { accountId, environment, type, subject, data, workspaceId = null } = event;
  const [row] = await em.execute<[OutboxRow]>(
    `select * from events.record_event(?::uuid, ?::uuid, ?, ?, ?, ?::jsonb, ?::uuid)`,
    [newUuid(), accountId, environment, type, subject, JSON.stringify(data), workspaceId],
  );
  const recorded = recordedEvent(row);
  await pubSub.publish(em, accountTopic(accountId, environment), recorded);
  await pubSub.publish(em, RELAY_TOPIC, null);
  return recorded;
}

/** The events behind a position, of the tenant that `em` acts for; at most `limit`. */
export async function eventsAfter(
  em: SqlEntityManager,
  environment: Environment,
  position: number,
  limit: number,
): Promise<RecordedEvent[]> {
  const rows = await em.execute<OutboxRow[]>(
    `select * from events.outbox where environment = ? and position > ? order by position limit ?`,
    [environment, position, limit],
  );
  return rows.map(recordedEvent);
}

/** Position of the last event of an account in its environment; 0 before the first. */
export async function lastPosition(database: Database, scope: TenantScope): Promise<number> {
  const [row] = await database.askAs<{ last: string }>(scope, {
    name: 'events.last-position',
    text: 'select coalesce(max(position), 0) as last from events.outbox where environment = $1',
    values: [scope.environment],
  });
  return Number(row!.last);
}

/**
 * Takes the next event that nobody has relayed, and acts for its tenant from here on to the end of the transaction;
 * undefined when there is none. Any number of relays take different events; of one subject only the first is taken.
 */
export async function takeEvent(em: SqlEntityManager): Promise<RecordedEvent | undefined> {
  const [row] = await em.execute<OutboxRow[]>(`select * from events.take_event()`);
  return row === undefined ? undefined : recordedEvent(row);
}

/** Part of the transaction that took the event: it has reached everyone. */
export async function markRelayed(em: SqlEntityManager, event: RecordedEvent): Promise<void> {
  await em.execute(`update events.outbox set relayed_at = clock_timestamp() where event_id = ?`, [event.eventId]);
}

/** After a relay that failed: it will be taken again, later each time, at most a minute. */
export async function postponeEvent(em: SqlEntityManager, eventId: Uuid): Promise<void> {
  await em.execute(`select events.postpone_event(?)`, [eventId]);
}

/** An event as it was told to watchers. */
export function revivedEvent(told: RecordedEvent): RecordedEvent {
  return { ...told, occurredAt: new Date(told.occurredAt) };
}

function recordedEvent(row: OutboxRow): RecordedEvent {
  return {
    eventId: row.event_id,
    accountId: row.account_id,
    environment: row.environment,
    type: row.type,
    subject: row.subject,
    sequence: Number(row.sequence),
    position: Number(row.position),
    data: row.data,
    occurredAt: new Date(row.occurred_at),
    workspaceId: row.workspace_id,
  };
}
