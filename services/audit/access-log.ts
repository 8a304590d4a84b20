import type { RequestContext } from '../../schema/principal.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { auditActor, recordAccessOnce, type AuditEvent } from './audit-event.ts';

const HOUR_MS = 3_600_000;
const MOST_REMEMBERED = 50_000;

/**
 * Tells the audit log who read what, one `data.accessed` per caller, resource and hour. The database counts, for all
 * processes; what this process has told in this hour is remembered, so that repeated reads cost nothing.
 */
export class AccessLog {
  readonly #database: Database;
  readonly #clock: () => Date;
  readonly #told = new Set<string>();
  #hour = 0;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  /** To be awaited before the data leaves: what can't be told is not shown. */
  async tell(context: RequestContext, target: NonNullable<AuditEvent['target']>): Promise<void> {
    const { principal } = context;
    if (principal === null) return;
    const actor = auditActor(principal);
    const subject = `${principal.accountId} ${actor.id} ${principal.environment} ${target.type} ${target.id}`;
    if (this.#remembers(subject)) return;
    const event: AuditEvent = {
      accountId: principal.accountId,
      type: 'data.accessed',
      actor,
      target,
      outcome: 'success',
      environment: principal.environment,
      details: {},
    };
    await this.#database.asNobody((em) => recordAccessOnce(em, context, event, subject));
    this.#told.add(subject);
  }

  #remembers(subject: string): boolean {
    const hour = Math.floor(this.#clock().getTime() / HOUR_MS);
    if (hour !== this.#hour || this.#told.size >= MOST_REMEMBERED) {
      this.#hour = hour;
      this.#told.clear();
    }
    return this.#told.has(subject);
  }
}
