import { ProblemError } from '../../schema/problems.ts';
import type { Environment, Scope } from '../../schema/principal.ts';
import { isUuid, shownId, type Uuid } from '../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../platform/postgres/database.ts';
import { MAX_WEBHOOKS } from '../../schema/contract/webhooks.ts';
import { MAX_FAILED_EVENTS, type DisabledReason, type Endpoint, type EventChoice } from './endpoint.ts';
import { Rows, type Page } from '../../platform/graph/connection.ts';
import { newestIdFirst } from '../../platform/postgres/newest-first.ts';

/** An endpoint to store; whoever writes it acts for its tenant. */
export interface NewEndpoint {
  readonly id: Uuid;
  readonly kind: Endpoint['kind'];
  readonly accountId: string;
  readonly environment: Environment;
  readonly workspaceId: string | null;
  readonly url: string;
  readonly events: readonly EventChoice[];
  readonly scopes: readonly Scope[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly sealedSecret: Buffer;
  readonly secretPrefix: string;
  readonly apiVersion: string;
  /** What the caller showed: a token makes the endpoint end with its grant, a key that ends with itself. */
  readonly credentialId?: string | undefined;
}

/** What is left out stays as it is. */
export interface EndpointChanges {
  readonly url?: string | undefined;
  /** With the scopes of whoever chooses them. */
  readonly events?: { readonly choice: readonly EventChoice[]; readonly scopes: readonly Scope[] } | undefined;
  readonly isActive?: boolean | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** The one before signs beside it for a day; the one before that no more. */
  readonly secret?: { readonly sealed: Buffer; readonly prefix: string } | undefined;
  /** As in {@link NewEndpoint}: whoever changes it answers for it from now on. */
  readonly credentialId?: string | undefined;
}

type Moment = 'lastSuccessAt' | 'lastFailureAt' | 'createdAt' | 'updatedAt';
type Row = Omit<Endpoint, Moment> & Readonly<Record<Moment, string | null>>;

const GRANT_LIVES = '(grant_id is null or auth.grant_lives(grant_id))';
const MAKER_LIVES = `(${GRANT_LIVES} and (key_id is null or auth.key_lives(key_id)))`;
const GRANT_OF_CREDENTIAL = `(select grant_id from auth.bond_of(?))`;
const KEY_OF_CREDENTIAL = `(select maker_id from auth.bond_of(?) where grant_id is null)`;
const COLUMNS = `id, kind, account_id as "accountId", environment, workspace_id as "workspaceId", url, events, scopes,
  is_active and ${MAKER_LIVES} as "isActive",
  case when ${MAKER_LIVES} then disabled_reason when ${GRANT_LIVES} then 'key_ended'
    else 'grant_ended' end as "disabledReason", metadata,
  secret_prefix as "secretPrefix", api_version as "apiVersion", delivered, failed, last_success_at as "lastSuccessAt",
    last_failure_at as "lastFailureAt", created_at as "createdAt", updated_at as "updatedAt"`;
const TEXTS = `array(select jsonb_array_elements_text(?::jsonb))`;

/**
 * @throws ProblemError `validation_error` / `too_many_webhooks`
 */
export async function insertEndpoint(em: SqlEntityManager, endpoint: NewEndpoint): Promise<Endpoint> {
  const {
    id,
    kind,
    accountId,
    environment,
    workspaceId,
    url,
    events,
    scopes,
    metadata,
    sealedSecret,
    secretPrefix,
    apiVersion,
    credentialId,
  } = endpoint;
  if (kind === 'webhook') {
    // Counted under a lock, so that nobody gets past the limit side by side.
    await em.execute(`select pg_advisory_xact_lock(hashtextextended(? || ' webhooks', 4))`, [accountId]);
    if ((await countWebhooks(em, true)) >= MAX_WEBHOOKS)
      throw new ProblemError(
        'validation_error',
        `There are ${MAX_WEBHOOKS} webhooks already, which is the maximum. Delete one first.`,
        { code: 'too_many_webhooks', status: 400 },
      );
  }
  const rows = await em.execute<Row[]>(
    `insert into events.webhook_endpoints (id, kind, account_id, environment, workspace_id, url, events, scopes,
      metadata, secret, secret_prefix, api_version, grant_id, key_id)
     values (?, ?, ?, ?, ?, ?, ${TEXTS}, ${TEXTS}, ?::jsonb, ?, ?, ?, ${GRANT_OF_CREDENTIAL}, ${KEY_OF_CREDENTIAL})
       returning ${COLUMNS}`,
    [
      id,
      kind,
      accountId,
      environment,
      workspaceId,
      url,
      JSON.stringify(events),
      JSON.stringify(scopes),
      JSON.stringify(metadata),
      sealedSecret,
      secretPrefix,
      apiVersion,
      credentialId ?? null,
      credentialId ?? null,
    ],
  );
  return endpointOf(rows[0]!);
}

/** Those of the tenant that `em` acts for, newest first. */
export async function listWebhooks(em: SqlEntityManager, all: boolean, page: Page): Promise<Rows<Endpoint>> {
  const { condition, window } = newestIdFirst(page);
  const rows = await em.execute<Row[]>(
    `select ${COLUMNS} from events.webhook_endpoints where kind = 'webhook' and ((is_active and ${MAKER_LIVES}) or ` +
      `?) and ${condition.sql} ${window.sql}`,
    [all, ...condition.values, ...window.values],
  );
  return Rows.of(rows.map(endpointOf), page, ({ id }) => id);
}

/** How many {@link listWebhooks} would find in all. */
export async function countWebhooks(em: SqlEntityManager, all: boolean): Promise<number> {
  const [row] = await em.execute<[{ count: string }]>(
    `select count(*) from events.webhook_endpoints where kind = 'webhook' and ((is_active and ${MAKER_LIVES}) or ?)`,
    [all],
  );
  return Number(row.count);
}

/** @throws ProblemError `resource_not_found`, for a foreign one exactly as for one that there is not */
export async function requireWebhook(em: SqlEntityManager, id: string): Promise<Endpoint> {
  const rows = isUuid(id)
    ? await em.execute<Row[]>(`select ${COLUMNS} from events.webhook_endpoints where kind = 'webhook' and id = ?`, [id])
    : [];
  return rows[0] === undefined ? noWebhook(id) : endpointOf(rows[0]);
}

function noWebhook(id: string): never {
  throw new ProblemError('resource_not_found', `There is no webhook ${shownId(id)}.`);
}

/** Every endpoint of the tenant that `em` acts for to which something may be sent. */
export async function activeEndpoints(em: SqlEntityManager): Promise<readonly Endpoint[]> {
  return (
    await em.execute<Row[]>(
      `select ${COLUMNS} from events.webhook_endpoints where is_active and ${MAKER_LIVES} order by id`,
    )
  ).map(endpointOf);
}

/** The callback of the agent of the account that `em` acts for. */
export async function findCallback(em: SqlEntityManager): Promise<Endpoint | null> {
  const [row] = await em.execute<Row[]>(`select ${COLUMNS} from events.webhook_endpoints where kind = 'callback'`);
  return row === undefined ? null : endpointOf(row);
}

/**
 * Switching one on forgets why it was off and how often it failed; what has waited for more than a day is given up by
 * then.
 * @returns it as it is now
 */
export async function changeEndpoint(em: SqlEntityManager, id: Uuid, changes: EndpointChanges): Promise<Endpoint> {
  const { url, events, isActive, metadata, secret, credentialId } = changes;
  if (isActive === true) {
    await em.execute(
      `update events.webhook_endpoints set disabled_reason = null, failures_in_a_row = 0, timeouts_in_a_row = 0 ` +
        `where id = ?`,
      [id],
    );
    await em.execute(
      `update events.webhook_deliveries set status = 'failed', completed_at = clock_timestamp() where endpoint_id = ` +
        `? and status = 'pending' and begun_at < clock_timestamp() - interval '24 hours'`,
      [id],
    );
  }
  if (events !== undefined)
    await em.execute(`update events.webhook_endpoints set events = ${TEXTS}, scopes = ${TEXTS} where id = ?`, [
      JSON.stringify(events.choice),
      JSON.stringify(events.scopes),
      id,
    ]);
  const rows = await em.execute<Row[]>(
    `update events.webhook_endpoints set url = coalesce(?, url), is_active = coalesce(?, is_active), metadata = ` +
      `coalesce(?::jsonb, metadata), grant_id = ${GRANT_OF_CREDENTIAL}, key_id = ${KEY_OF_CREDENTIAL}, updated_at = ` +
      `clock_timestamp() where id = ? returning ${COLUMNS}`,
    [
      url ?? null,
      isActive ?? null,
      metadata === undefined ? null : JSON.stringify(metadata),
      credentialId ?? null,
      credentialId ?? null,
      id,
    ],
  );
  if (secret === undefined) return endpointOf(rows[0]!);
  const sealed = await em.execute<Row[]>(
    `update events.webhook_endpoints set replaced_secret = secret, replaced_secret_until = clock_timestamp() + ` +
      `interval '24 hours', secret = ?, secret_prefix = ? where id = ? returning ${COLUMNS}`,
    [secret.sealed, secret.prefix, id],
  );
  return endpointOf(sealed[0]!);
}

/** With every attempt to deliver to it. */
export async function deleteEndpoint(em: SqlEntityManager, id: Uuid): Promise<void> {
  await em.execute('delete from events.webhook_endpoints where id = ?', [id]);
}

/** Notes what came of an attempt; `isLast` when nothing more is tried for its event. */
export async function noteOutcome(
  em: SqlEntityManager,
  id: Uuid,
  outcome: {
    readonly isSuccess: boolean;
    readonly isLast: boolean;
    readonly isTimeout: boolean;
    readonly isGone: boolean;
  },
): Promise<void> {
  const { isSuccess, isLast, isTimeout, isGone } = outcome;
  if (isSuccess) {
    await em.execute(
      `update events.webhook_endpoints set delivered = delivered + 1, last_success_at = clock_timestamp(), ` +
        `failures_in_a_row = 0, timeouts_in_a_row = 0 where id = ?`,
      [id],
    );
    return;
  }
  const reason: DisabledReason = isGone ? 'gone' : 'consecutive_failures';
  await em.execute(
    `update events.webhook_endpoints
      set last_failure_at = clock_timestamp(), failed = failed + ?, failures_in_a_row = failures_in_a_row + ?,
        timeouts_in_a_row = case when ? then timeouts_in_a_row + 1 else 0 end,
       is_active = is_active and not (? or failures_in_a_row + ? >= ?), disabled_reason = case when is_active
         and (? or failures_in_a_row + ? >= ?) then ? else disabled_reason end
     where id = ?`,
    [
      Number(isLast),
      Number(isLast),
      isTimeout,
      isGone,
      Number(isLast),
      MAX_FAILED_EVENTS,
      isGone,
      Number(isLast),
      MAX_FAILED_EVENTS,
      reason,
      id,
    ],
  );
}

function endpointOf(row: Row): Endpoint {
  return {
    ...row,
    lastSuccessAt: dateOf(row.lastSuccessAt),
    lastFailureAt: dateOf(row.lastFailureAt),
    createdAt: new Date(row.createdAt!),
    updatedAt: new Date(row.updatedAt!),
  };
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
