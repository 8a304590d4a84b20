import { ProblemError } from '../../../schema/problems.ts';
import type { Principal } from '../../../schema/principal.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { Jobs } from '../../../platform/jobs/jobs.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import { RESYNC, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import type { Logger } from '../../../platform/telemetry/logs.ts';
import { failLocked, type EndedRuns, type EndingServices } from './end-run.ts';
import { askedRuns } from './run-queues.ts';
import { lockRun, requireRun, type RunTable, type ScopedRun } from './run-table.ts';
import { isRefreshing, revisionUnderWay, type Run } from './run.ts';

const topicOf = (runs: RunTable, id: Uuid) => `${runs.name}-cancelled:${id}`;

/**
 * Ends a run that has not ended by itself. One that waits never begins; a worker that is at it hears of the commit and
 * stops its computations at their next look at their flag. Cancelling again changes nothing.
 * @param settle records the effect, in the transaction that has it
 * @throws ProblemError `resource_not_found`; `conflict` with code `already_finished`
 */
export async function cancelRun<Row extends Run>(
  services: EndingServices & { readonly jobs: Jobs },
  runs: EndedRuns<Row>,
  principal: Principal,
  id: Uuid,
  settle: (em: SqlEntityManager) => Promise<void>,
): Promise<Row> {
  // What has a result keeps it: it is refused without a wait for whoever is bringing it up to date.
  refuseFinished(runs, await services.database.asTenant(principal, (em) => requireRun(em, runs, id)));
  return services.database.asTenant(principal, async (em) => {
    const row = (await lockRun(em, runs, id)) ?? (await requireRun(em, runs, id));
    refuseFinished(runs, row);
    if (!isCancelled(row)) {
      const message = `The ${runs.noun} was cancelled. Nothing is billed.`;
      await failLocked(em, services, runs, row, { code: 'cancelled', message });
      await services.jobs.withdraw(em, askedRuns(runs), id);
      await services.pubSub.publish(em, topicOf(runs, id), null);
    }
    await settle(em);
    return row;
  });
}

function isCancelled({ failure }: Run): boolean {
  return failure?.code === 'cancelled';
}

function refuseFinished(runs: RunTable, run: Run): void {
  if (isCancelled(run) || (revisionUnderWay(run) !== null && !isRefreshing(run))) return;
  const id = publicId(runs.prefix, run.id);
  const message = isRefreshing(run)
    ? `${id} is completed and cannot be cancelled: late rows have changed its source, and its figures are being ` +
      `brought up to date.`
    : `${id} is ${run.status} already: there is nothing to cancel.`;
  throw new ProblemError('conflict', message, { code: 'already_finished' });
}

/** A worker's view of whether its run is cancelled. */
export interface CancellationWatch {
  /** Aborts within milliseconds of the commit that cancels. */
  readonly signal: AbortSignal;
  stop(): Promise<void>;
}

export interface WatchServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly logger: Logger;
}

/** Listens from this call on: whoever reads the row afterwards misses nothing. */
export function watchCancellation(services: WatchServices, runs: RunTable, run: ScopedRun): CancellationWatch {
  const cancelled = new AbortController();
  const notices = services.pubSub.subscribe<null>(topicOf(runs, run.id));
  const watching = (async () => {
    for await (const notice of notices)
      if (notice !== RESYNC || (await hasFailed(services, runs, run))) cancelled.abort();
  })();
  return {
    signal: cancelled.signal,
    async stop() {
      await notices.return?.();
      await watching;
    },
  };
}

/**
 * A notice that was missed costs the rest of a computation that nobody wants, and so a failed look is no reason to end
 * the run.
 */
async function hasFailed({ database, logger }: WatchServices, runs: RunTable, run: ScopedRun): Promise<boolean> {
  try {
    const rows = await database.asTenant(wholeAccount(run), (em) =>
      em.execute<{ status: string }[]>(`select status from ${runs.table} where id = ?`, [run.id]),
    );
    return rows[0]?.status === 'failed';
  } catch (error) {
    logger.warn(
      { err: error, [runs.name]: publicId(runs.prefix, run.id) },
      'whether a run was cancelled could not be read; it goes on',
    );
    return false;
  }
}
