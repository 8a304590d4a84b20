import { z } from 'zod';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Principal, RequestContext } from '../../../../schema/principal.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { auditActor, recordAuditEvent } from '../../../../services/audit/audit-event.ts';
import type { Settle } from '../../../../services/idempotency/exactly-once.ts';
import { isFinished } from '../../runs/run.ts';
import { forgetProgress } from '../../runs/run-progress.ts';
import { lockRun, requireRun } from '../../runs/run-table.ts';
import { ATTRIBUTION_RUNS } from './attribution.ts';

export const deleteEffect = z.object({});

export interface DeletingServices {
  readonly database: Database;
  readonly clock: () => Date;
}

/**
 * Deletes an analysis with its figures, its progress and its signature: from now on every call answers 404. What was
 * billed for it, and the recovered revenue that it was billed by, stay on record.
 * @throws ProblemError `resource_not_found`; `conflict`, code `not_finished`, while it is computed or brought up to
 * date
 */
export async function deleteAttribution(
  services: DeletingServices,
  context: RequestContext,
  principal: Principal,
  id: Uuid,
  settle: Settle<z.output<typeof deleteEffect>>,
): Promise<void> {
  await services.database.asTenant(principal, async (em) => {
    const attribution = (await lockRun(em, ATTRIBUTION_RUNS, id)) ?? (await requireRun(em, ATTRIBUTION_RUNS, id));
    const shownId = publicId('attr', id);
    if (!isFinished(attribution)) {
      throw new ProblemError(
        'conflict',
        `${shownId} is ${attribution.status}. Cancel it, or delete it when it has finished.`,
        { code: 'not_finished' },
      );
    }
    await em.execute(
      `update attribution.attributions
        set deleted_at = ?, auto_refresh = false, trust = null, failure = null, signature = null, channels = null,
         result = case when result is not null then jsonb_build_object('deltaRCents', result -> 'deltaRCents') end
           where id = ?`,
      [services.clock(), id],
    );
    await forgetProgress(em, ATTRIBUTION_RUNS, id);
    await recordAuditEvent(em, context, {
      accountId: principal.accountId,
      type: 'data.deleted',
      actor: auditActor(principal),
      target: { type: 'attribution', id: shownId },
      outcome: 'success',
      environment: principal.environment,
      details: {},
    });
    await settle(em, {});
  });
}
