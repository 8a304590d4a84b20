import { ProblemError } from '../../schema/problems.ts';
import type { Environment } from '../../schema/principal.ts';
import { newUuid, shownId, uuidFromPublicId, type Uuid } from '../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../platform/postgres/database.ts';
import type { EventType } from '../../schema/event-catalogue.ts';
import type { ClaimedDelivery, Delivery, DeliveryStatus, Outcome } from './delivery.ts';
import { Rows, type Page } from '../../platform/graph/connection.ts';
import { newestIdFirst } from '../../platform/postgres/newest-first.ts';

/** Wakes the senders; carries nothing. */
export const DELIVERIES_TOPIC = 'webhook-deliveries';

/** An attempt to make. */
export interface NewDelivery {
  readonly accountId: string;
  readonly environment: Environment;
  readonly endpointId: Uuid;
  readonly eventId: Uuid;
  readonly eventType: EventType;
  readonly isTest: boolean;
  readonly attempt: number;
  /** When its series of attempts began; now when absent. */
  readonly begunAt?: Date;
  /** Now when absent. */
  readonly scheduledAt?: Date;
  readonly url: string;
  /** Whoever sends it at once, and until when nobody else does. */
  readonly claimedBy?: { readonly sender: Uuid; readonly leaseMs: number };
}

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: EventType | undefined;
}

type Moment = 'scheduledAt' | 'sentAt' | 'completedAt' | 'nextAttemptAt';
type Row = Omit<Delivery, Moment> & Readonly<Record<Moment, string | null>>;
type ClaimedRow = Omit<ClaimedDelivery, 'sentAt' | 'occurredAt'> & {
  readonly sentAt: string;
  readonly occurredAt: string;
};

const COLUMNS = `id, event_id as "eventId", event_type as "eventType", attempt, status, url,
  response_status as "responseStatus", response_time_ms as "responseTimeMs", response_body as "responseBody", error,
  scheduled_at as "scheduledAt", sent_at as "sentAt", completed_at as "completedAt", next_attempt_at as "nextAttemptAt",
    request_headers as "requestHeaders", is_test as "isTest"`;
const CLAIMED = `id, account_id as "accountId", environment, endpoint_id as "endpointId", event_id as "eventId",
  event_type as "eventType", is_test as "isTest", attempt, sent_at as "sentAt", kind, url, metadata,
  api_version as "apiVersion", secret as "sealedSecret", replaced_secret as "sealedReplacedSecret", data,
    occurred_at as "occurredAt"`;

/** Part of the caller's transaction, which acts for the tenant. */
export async function insertDelivery(em: SqlEntityManager, delivery: NewDelivery): Promise<Delivery> {
  const {
    accountId,
    environment,
    endpointId,
    eventId,
    eventType,
    isTest,
    attempt,
    begunAt,
    scheduledAt,
    url,
    claimedBy,
  } = delivery;
  const rows = await em.execute<Row[]>(
    `insert into events.webhook_deliveries (id, account_id, environment, endpoint_id, event_id, event_type, is_test,
      attempt, url, begun_at, scheduled_at, sender, leased_until, sent_at)
     select ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?::timestamptz, now), coalesce(?::timestamptz, now), sender, case
       when sender is not null then now + make_interval(secs => ?) end, case when sender is not null then now end
     from (select clock_timestamp() as now, ?::uuid as sender) moment returning ${COLUMNS}`,
    [
      newUuid(),
      accountId,
      environment,
      endpointId,
      eventId,
      eventType,
      isTest,
      attempt,
      url,
      begunAt?.toISOString() ?? null,
      scheduledAt?.toISOString() ?? null,
      (claimedBy?.leaseMs ?? 0) / 1_000,
      claimedBy?.sender ?? null,
    ],
  );
  return deliveryOf(rows[0]!);
}

/** Newest first. */
export async function listDeliveries(
  em: SqlEntityManager,
  endpointId: Uuid,
  filter: DeliveryFilter,
  page: Page,
): Promise<Rows<Delivery>> {
  const { condition, values } = matching(endpointId, filter);
  const within = newestIdFirst(page);
  const rows = await em.execute<Row[]>(
    `select ${COLUMNS} from events.webhook_deliveries where ${condition} and ${within.condition.sql} ` +
      within.window.sql,
    [...values, ...within.condition.values, ...within.window.values],
  );
  return Rows.of(rows.map(deliveryOf), page, ({ id }) => id);
}

/** How many {@link listDeliveries} would find in all. */
export async function countDeliveries(em: SqlEntityManager, endpointId: Uuid, filter: DeliveryFilter): Promise<number> {
  const { condition, values } = matching(endpointId, filter);
  const [row] = await em.execute<[{ count: string }]>(
    `select count(*) from events.webhook_deliveries where ${condition}`,
    values,
  );
  return Number(row.count);
}

function matching(endpointId: Uuid, { status, eventType }: DeliveryFilter): { condition: string; values: string[] } {
  const wanted = [
    ['endpoint_id', endpointId],
    ['status', status],
    ['event_type', eventType],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined);
  return {
    condition: wanted.map(([column]) => `${column} = ?`).join(' and '),
    values: wanted.map(([, value]) => value),
  };
}

/** @throws ProblemError `resource_not_found` */
export async function requireDelivery(em: SqlEntityManager, endpointId: Uuid, id: string): Promise<Delivery> {
  const uuid = uuidFromPublicId('dlv', id);
  const rows =
    uuid === undefined
      ? []
      : await em.execute<Row[]>(`select ${COLUMNS} from events.webhook_deliveries where endpoint_id = ? and id = ?`, [
          endpointId,
          uuid,
        ]);
  if (rows[0] === undefined)
    throw new ProblemError('resource_not_found', `There is no delivery ${shownId(id)} of this webhook.`);
  return deliveryOf(rows[0]);
}

export interface ClaimOptions {
  readonly sender: Uuid;
  readonly leaseMs: number;
  readonly most: number;
  /** How many of one account are sent at a time. */
  readonly perAccount: number;
  /** How many of one endpoint are sent at a time, and of one that last ran into the time limit. */
  readonly perEndpoint: number;
  readonly perSlowEndpoint: number;
}

/**
 * Claims attempts that are due, of every tenant: the first of each account before the second of any, and of an account
 * the longest due first. Nobody else sends them until the lease ends.
 */
export async function claimDueDeliveries(
  em: SqlEntityManager,
  { sender, leaseMs, most, perAccount, perEndpoint, perSlowEndpoint }: ClaimOptions,
): Promise<readonly ClaimedDelivery[]> {
  const due = await em.execute<{ id: Uuid }[]>(
    `select id from events.claim_deliveries(?::uuid, ?, ?, ?, ?, make_interval(secs => ?)) id`,
    [sender, most, perAccount, perEndpoint, perSlowEndpoint, leaseMs / 1_000],
  );
  return due.length === 0
    ? []
    : claimedDeliveries(
        em,
        sender,
        due.map(({ id }) => id),
      );
}

/** What it takes to send attempts that this sender has claimed. */
export async function claimedDeliveries(
  em: SqlEntityManager,
  sender: Uuid,
  ids: readonly Uuid[],
): Promise<readonly ClaimedDelivery[]> {
  const rows = await em.execute<ClaimedRow[]>(
    `select ${CLAIMED} from events.claimed_deliveries(?::uuid, ?::text::uuid[])`,
    [sender, `{${ids.join(',')}}`],
  );
  return rows.map((row) => ({ ...row, sentAt: new Date(row.sentAt), occurredAt: new Date(row.occurredAt) }));
}

/** Keeps claims from running out while their sender is at work. */
export async function extendLeases(
  em: SqlEntityManager,
  sender: Uuid,
  ids: readonly Uuid[],
  leaseMs: number,
): Promise<void> {
  await em.execute(`select events.extend_delivery_leases(?::uuid, ?::text::uuid[], make_interval(secs => ?))`, [
    sender,
    `{${ids.join(',')}}`,
    leaseMs / 1_000,
  ]);
}

/** Until the next attempt that lies in the future is due; null when there is none. */
export async function msToNextDelivery(em: SqlEntityManager): Promise<number | null> {
  const [row] = await em.execute<[{ ms: number | null }]>(`select events.ms_to_next_delivery() as ms`);
  return row.ms;
}

/** An attempt in the hands of its sender, by the database's clock. */
export interface HeldDelivery {
  readonly begunAt: Date;
  readonly now: Date;
}

/**
 * Locks an attempt for the rest of the transaction; null when another sender has finished it, or its endpoint is gone.
 */
export async function holdDelivery(em: SqlEntityManager, sender: Uuid, id: Uuid): Promise<HeldDelivery | null> {
  const [row] = await em.execute<{ begunAt: string; now: string }[]>(
    `select begun_at as "begunAt", clock_timestamp() as now from events.webhook_deliveries where id = ? and sender = ` +
      `? and status = 'pending' for update`,
    [id, sender],
  );
  return row === undefined ? null : { begunAt: new Date(row.begunAt), now: new Date(row.now) };
}

/** Writes what came of an attempt, and when: the moment that its successor was counted from. */
export async function finishDelivery(
  em: SqlEntityManager,
  id: Uuid,
  outcome: Outcome,
  completedAt: Date,
  nextAttemptAt: Date | null,
): Promise<void> {
  const { status, responseStatus, responseTimeMs, responseBody, error, requestHeaders } = outcome;
  await em.execute(
    `update events.webhook_deliveries
      set status = ?, response_status = ?, response_time_ms = ?, response_body = ?, error = ?,
        request_headers = ?::jsonb, completed_at = ?::timestamptz, next_attempt_at = ?::timestamptz,
        leased_until = null
     where id = ?`,
    [
      status,
      responseStatus,
      responseTimeMs,
      responseBody,
      error,
      JSON.stringify(requestHeaders),
      completedAt.toISOString(),
      nextAttemptAt?.toISOString() ?? null,
      id,
    ],
  );
}

function deliveryOf(row: Row): Delivery {
  return {
    ...row,
    scheduledAt: new Date(row.scheduledAt!),
    sentAt: dateOf(row.sentAt),
    completedAt: dateOf(row.completedAt),
    nextAttemptAt: dateOf(row.nextAttemptAt),
  };
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
