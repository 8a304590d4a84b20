import { z } from 'zod';
import type { Principal } from '../../../../schema/principal.ts';
import { ONE_BY_ONE, type JobQueue, type Jobs } from '../../../../platform/jobs/jobs.ts';
import type { Settle } from '../../../../services/idempotency/exactly-once.ts';
import { uuid, type Uuid } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { DataSourceStore } from './data-source-store.ts';

/** How long the rows of a deleted source are kept. */
export const PURGE_AFTER_DAYS = 30;

/** What the purge job is told. */
export interface PurgeJob {
  readonly accountId: Uuid;
  readonly dataSourceId: Uuid;
}

export const PURGE_QUEUE: JobQueue<PurgeJob> = {
  name: 'data-source.purge',
  data: z.object({ accountId: uuid, dataSourceId: uuid }),
  ...ONE_BY_ONE,
};

/**
 * Deletes a source: from now on every call answers 404; its rows go after 30 days.
 * @throws ProblemError `resource_not_found`, `conflict` (sandbox_source).
 */
export async function deleteDataSource(
  database: Database,
  jobs: Jobs,
  principal: Principal,
  dataSourceId: Uuid,
  now: Date,
  settle: Settle<Record<string, never>>,
): Promise<void> {
  await database.asTenant(principal, async (em) => {
    const source = await new DataSourceStore(em).lock(dataSourceId);
    source.assertChangeable();
    source.deletedAt = now;
    source.mapping = null;
    await em.flush();
    const job: PurgeJob = { accountId: source.accountId, dataSourceId };
    await jobs.enqueue(em, PURGE_QUEUE, job, {
      tenant: source.accountId,
      startAfter: new Date(now.getTime() + PURGE_AFTER_DAYS * 86_400_000),
    });
    await settle(em, {});
  });
}
