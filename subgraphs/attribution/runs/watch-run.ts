import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../../../schema/principal.ts';
import { SequencedWatch, type WatchedSequence } from '../../../services/events/sequenced-watch.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { progressTopic, type PartialResult, type SequencedEvent } from './run-progress.ts';
import { refuseUnknown, type RunTable } from './run-table.ts';
import { isFinished, type Run } from './run.ts';

/**
 * The history of a run from behind `after`, and then what happens, until the run ends.
 * @throws ProblemError `resource_not_found`
 */
export async function watchRun<Partial extends PartialResult>(
  { database, pubSub }: { readonly database: Database; readonly pubSub: PubSub },
  runs: RunTable,
  principal: Principal,
  id: Uuid,
  after: number,
): Promise<AsyncIterable<SequencedEvent<Partial>>> {
  const run = await standingOf(database, runs, principal, id);
  const sequence: WatchedSequence<SequencedEvent<Partial>> = {
    tenant: principal.accountId,
    news: pubSub.subscribe<SequencedEvent<Partial>>(progressTopic(runs, id)),
    placeOf: (event) => event.sequence,
    read: (seen) => database.asTenant(principal, (em) => eventsAfter<Partial>(em, runs, id, seen)),
    isLast: ({ event }) => event.kind === 'RESULT' || event.kind === 'ERROR',
  };
  // A place that nothing has reached yet would hide the end, and the watcher would wait for ever.
  return new SequencedWatch(sequence, isFinished(run) ? after : Math.min(after, run.last));
}

/**
 * How far a run has come, without its result: that is read once it is told.
 * @throws ProblemError `resource_not_found`
 */
async function standingOf(
  database: Database,
  runs: RunTable,
  principal: Principal,
  id: Uuid,
): Promise<Pick<Run, 'status'> & { readonly last: number }> {
  const [standing] = await database.askAs<Pick<Run, 'status'> & { last: number }>(principal, {
    name: `${runs.name}.standing`,
    text: `select status, last_event as last from ${runs.table} where id = $1 and deleted_at is null`,
    values: [id],
  });
  return standing ?? refuseUnknown(runs, id);
}

/**
 * Null where nothing will follow: the run has finished and all of its events were seen or forgotten, or it was deleted.
 * By one statement, since a run may end between two.
 */
async function eventsAfter<Partial extends PartialResult>(
  em: SqlEntityManager,
  { table, progressTable }: RunTable,
  id: Uuid,
  after: number,
): Promise<readonly SequencedEvent<Partial>[] | null> {
  const rows = await em.execute<(SequencedEvent<Partial> & Pick<Run, 'status'>)[]>(
    `select status, sequence, event from ${table} left join ${progressTable} on run_id = id and sequence > ?
     where id = ? and deleted_at is null order by sequence`,
    [after, id],
  );
  const events = rows.filter(({ sequence }) => sequence !== null).map(({ sequence, event }) => ({ sequence, event }));
  return events.length === 0 && rows.every(isFinished) ? null : events;
}
