import { wholeAccount, type Database, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { appendProgress, type RunEvent } from './run-progress.ts';
import { lockRun, type RevisionRun, type RunTable, type StoredRuns } from './run-table.ts';
import { complete, fail, isRefreshing, keepRevision, revisionUnderWay, type Run, type RunFailure } from './run.ts';

/** What ending a run takes, whatever it computed. */
export interface EndingServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly clock: () => Date;
}

/** Runs of a kind, as far as ending them goes. */
export interface EndedRuns<Row extends Run> extends StoredRuns<Row> {
  /** Tells the world of a run that has ended as it is now, in the transaction that ends it. Once per run. */
  announce(em: SqlEntityManager, row: Row): Promise<void>;
}

/** Runs of a kind, as far as completing them goes. */
export interface CompletedRuns<Row extends Run, Found> extends EndedRuns<Row> {
  /** Of what the computation found, what the row keeps as its result. */
  resultOf(found: Found): NonNullable<Row['result']>;
  /** What else stands in a completed row, such as its signature. The result is there already. */
  fill(em: SqlEntityManager, row: Row, found: Found): Promise<void>;
  /** Tells of a new revision, in the place of `announce`; `previous` is the result of the last one. */
  announceRevision(em: SqlEntityManager, row: Row, previous: NonNullable<Row['result']>): Promise<void>;
  /** What a completed run leads to, such as a refresh for what came while it ran. */
  follow(em: SqlEntityManager, row: Row, found: Found): Promise<void>;
}

/**
 * Completes a run with its result, last progress event and announcement, all or nothing. A run that is over is left
 * alone.
 */
export async function completeRun<Row extends Run, Found>(
  services: EndingServices,
  runs: CompletedRuns<Row, Found>,
  run: RevisionRun,
  found: Found,
): Promise<void> {
  await endRun(services, runs, run, async (row, em) => {
    const previous = row.result ?? null;
    complete(row, runs.resultOf(found), services.clock());
    await runs.fill(em, row, found);
    await tell(em, services, runs, row, { kind: 'RESULT' });
    if (previous === null) await runs.announce(em, row);
    else await runs.announceRevision(em, row, previous);
    await runs.follow(em, row, found);
  });
}

/**
 * Ends a run without a result; also what happens when every attempt of its job has failed. A refresh that fails leaves
 * the last revision.
 */
export async function failRun<Row extends Run>(
  services: EndingServices,
  runs: EndedRuns<Row>,
  run: RevisionRun,
  failure: RunFailure,
): Promise<void> {
  await endRun(services, runs, run, async (row, em) => {
    if (!isRefreshing(row)) return failLocked(em, services, runs, row, failure);
    keepRevision(row);
    await tell(em, services, runs, row, { kind: 'RESULT' });
  });
}

/** Fails a locked run that has no result, in the caller's transaction. */
export async function failLocked<Row extends Run>(
  em: SqlEntityManager,
  services: Omit<EndingServices, 'database'>,
  runs: EndedRuns<Row>,
  row: Row,
  failure: RunFailure,
): Promise<void> {
  fail(row, failure, services.clock());
  await tell(em, services, runs, row, { kind: 'ERROR', failure });
  await runs.announce(em, row);
}

async function endRun<Row extends Run>(
  services: EndingServices,
  runs: StoredRuns<Row>,
  run: RevisionRun,
  end: (row: Row, em: SqlEntityManager) => Promise<void>,
): Promise<void> {
  await services.database.asTenant(wholeAccount(run), async (em) => {
    const row = await lockRun(em, runs, run.id);
    if (row !== null && revisionUnderWay(row) === run.revision) await end(row, em);
  });
}

async function tell(
  em: SqlEntityManager,
  { pubSub }: Pick<EndingServices, 'pubSub'>,
  runs: RunTable,
  row: Run,
  event: RunEvent,
): Promise<void> {
  await em.flush();
  await appendProgress(em, pubSub, runs, row, [event]);
}
