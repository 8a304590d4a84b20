import type { Jobs } from '../../../platform/jobs/jobs.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { appendProgress } from './run-progress.ts';
import { askedRuns } from './run-queues.ts';
import type { RunTable, ScopedRun } from './run-table.ts';

/**
 * Puts a new run, whose row the caller has created in this transaction, before the workers: an accepted run is always
 * worked on, and a refused one leaves nothing.
 * @param size `rows` that it will read, about; `delayMs` is how much longer than need be it takes
 * @throws ProblemError `rate_limit_exceeded` / `concurrency`: too many of the caller's runs are under way or wait
 */
export async function acceptRun(
  em: SqlEntityManager,
  { jobs, pubSub }: { readonly jobs: Jobs; readonly pubSub: PubSub },
  runs: RunTable,
  { id, accountId, environment }: ScopedRun,
  size: { readonly rows: number; readonly delayMs: number },
): Promise<void> {
  await em.flush();
  const run = { id, accountId, environment };
  await appendProgress(em, pubSub, runs, run, [
    { kind: 'PROGRESS', stage: 'queued', progress: 0, message: 'Waiting for a worker' },
  ]);
  await jobs.enqueue(
    em,
    askedRuns(runs),
    { accountId, environment, runId: id, revision: 1, ...size },
    { tenant: accountId, share: environment, singletonKey: id },
  );
}
