import type { Jobs } from '../../../platform/jobs/jobs.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { PURGE_QUEUE } from '../intake/data-sources/delete-data-source.ts';

/** Deletes the sources that test keys connected thirty days ago or earlier, and their rows at once. */
export async function retireSandboxSources(database: Database, jobs: Jobs): Promise<void> {
  await database.asNobody(async (em) => {
    const retired = await em.execute<{ account_id: Uuid; data_source_id: Uuid }[]>(
      `select account_id, data_source_id from attribution.retire_old_sandbox_sources()`,
    );
    for (const source of retired)
      await jobs.enqueue(
        em,
        PURGE_QUEUE,
        { accountId: source.account_id, dataSourceId: source.data_source_id },
        { tenant: source.account_id },
      );
  });
}
