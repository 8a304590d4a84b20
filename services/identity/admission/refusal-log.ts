import { recordAuditEvent, type AuditActor, type AuditEvent } from '../../audit/audit-event.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Logger } from '../../../platform/telemetry/logs.ts';
import { addressBlock } from './address-block.ts';
import type { Arrival } from './admission.ts';
import type { Environment } from '../../../schema/principal.ts';

/** Whose credential was refused. */
export interface RefusedCredential {
  readonly id: string;
  readonly keyId: string;
  readonly accountId: string;
  readonly agentId: string | null;
  readonly environment: Environment;
}

/** Why a credential was refused, as the audit log says it. */
export type AuthFailure = 'unknown_credential' | 'wrong_host' | 'revoked_or_expired' | 'address_not_allowed';

type Refused = Pick<Arrival, 'requestId' | 'origin'>;

/** Failures of one actor or address in an hour that make it an attack (decision table of the contract, audit). */
const ALARM_AT = 10;
const STRANGER: AuditActor = { type: 'anonymous', id: null };

/**
 * Tells the audit log of refusals: of a known credential in its tenant's log, of strangers in the installation's. A
 * flood leaves few entries, each with the number of attempts that it stands for: failed logins one a minute per
 * credential or address and one more at the alarm, exceeded limits one a minute. The refusal stands whether or not it
 * could be told.
 */
export class RefusalLog {
  readonly #database: Database;
  readonly #logger: Logger;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** @param credential null where nobody knows it */
  async authFailed(arrival: Refused, reason: AuthFailure, credential: RefusedCredential | null): Promise<void> {
    await this.#guarded(arrival, async () => {
      const subject =
        credential === null ? `address:${addressBlock(arrival.origin.clientAddress)}` : `credential:${credential.id}`;
      const [count] = await this.#database.ask<{ in_hour: number; untold: number; is_news: boolean }>({
        name: 'auth.count_failure',
        text: 'select * from auth.count_failure($1, $2)',
        values: [subject, ALARM_AT],
      });
      if (!count!.is_news) return;
      await this.#tell(arrival, credential, {
        type: 'auth.failed',
        severity: count!.in_hour >= ALARM_AT ? 'critical' : 'warning',
        details: { reason, attempts: count!.untold, attempts_this_hour: count!.in_hour },
      });
    });
  }

  /** Said once per subject and minute: the caller knows when. */
  async limitExceeded(
    arrival: Refused,
    limit: Readonly<Record<string, unknown>>,
    credential: RefusedCredential | null,
  ): Promise<void> {
    await this.#guarded(arrival, () =>
      this.#tell(arrival, credential, { type: 'rate_limit.exceeded', details: limit }),
    );
  }

  /** More at a time than there may be; told of a credential's first in a minute. */
  async crowdSeen(arrival: Refused, credential: RefusedCredential): Promise<void> {
    await this.#guarded(arrival, async () => {
      const [count] = await this.#database.ask<{ exceeded: string | null }>({
        name: 'auth.count_call',
        text: 'select * from auth.count_call($1, $2, $3)',
        values: [`concurrency:${credential.id}`, 1, null],
      });
      if (count!.exceeded === null)
        await this.#tell(arrival, credential, { type: 'rate_limit.exceeded', details: { window: 'concurrency' } });
    });
  }

  async #tell(
    arrival: Refused,
    credential: RefusedCredential | null,
    event: Pick<AuditEvent, 'type' | 'severity' | 'details'>,
  ): Promise<void> {
    const told: AuditEvent = {
      ...event,
      accountId: credential?.accountId ?? null,
      actor: credential === null ? STRANGER : actorOf(credential),
      target: credential === null ? null : { type: 'key', id: publicId('key', credential.keyId as Uuid) },
      outcome: 'failure',
      environment: credential?.environment ?? 'live',
    };
    await this.#database.asNobody((em) => recordAuditEvent(em, arrival, told));
  }

  async #guarded(arrival: Refused, tell: () => Promise<void>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      this.#logger.error(
        { err: error, requestId: arrival.requestId },
        'a refusal could not be recorded in the audit log',
      );
    }
  }
}

function actorOf({ keyId, agentId }: RefusedCredential): AuditActor {
  return agentId === null
    ? { type: 'key', id: publicId('key', keyId as Uuid) }
    : { type: 'agent', id: publicId('agent', agentId as Uuid) };
}
