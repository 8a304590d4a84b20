import type { Jobs } from '../../../platform/jobs/jobs.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { forgetProgress } from './run-progress.ts';
import { refreshedRuns } from './run-queues.ts';
import { lockRun, type RevisionRun, type StoredRuns } from './run-table.ts';
import { refresh, type Run } from './run.ts';

/**
 * Has a completed run run again, in the caller's transaction: its result stays until the next revision is there.
 * @param run of the revision that is there
 * @param rowsOf about how many rows it will read
 * @returns false when the run has gone on by itself: then nothing happens
 */
export async function refreshRun<Row extends Run>(
  em: SqlEntityManager,
  jobs: Jobs,
  runs: StoredRuns<Row>,
  { id, accountId, environment, revision }: RevisionRun,
  rowsOf: (row: Row) => Promise<number>,
): Promise<boolean> {
  const row = await lockRun(em, runs, id);
  if (row === null || row.status !== 'completed' || row.revision !== revision) return false;
  refresh(row);
  await em.flush();
  await forgetProgress(em, runs, id);
  const rows = await rowsOf(row);
  const job = { accountId, environment, runId: id, revision: revision + 1, delayMs: 0, rows };
  await jobs.enqueue(em, refreshedRuns(runs), job, { tenant: accountId });
  return true;
}
