import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Principal } from '../../../schema/principal.ts';
import { SequencedWatch, type WatchedSequence } from '../../../services/events/sequenced-watch.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { progressTopic, type PartialResult, type SequencedEvent } from './run-progress.ts';
import { requireRun, type RunTable, type StoredRuns } from './run-table.ts';
import { isFinished, type Run } from './run.ts';

/**
 * The history of a run from behind `after`, and then what happens, until the run ends.
 * @throws ProblemError `resource_not_found`
 */
export async function watchRun<Row extends Run, Partial extends PartialResult>(
  { database, pubSub }: { readonly database: Database; readonly pubSub: PubSub },
  runs: StoredRuns<Row>,
  principal: Principal,
  id: Uuid,
  after: number,
): Promise<AsyncIterable<SequencedEvent<Partial>>> {
  const place = await database.asTenant(principal, async (em) => {
    const run = await requireRun(em, runs, id);
    // A place that nothing has reached yet would hide the end, and the watcher would wait for ever.
    return isFinished(run) ? after : Math.min(after, await lastEvent(em, runs, id));
  });
  const sequence: WatchedSequence<SequencedEvent<Partial>> = {
    news: pubSub.subscribe<SequencedEvent<Partial>>(progressTopic(runs, id)),
    placeOf: (event) => event.sequence,
    read: (seen) => database.asTenant(principal, (em) => eventsAfter<Partial>(em, runs, id, seen)),
    isLast: ({ event }) => event.kind === 'RESULT' || event.kind === 'ERROR',
  };
  return new SequencedWatch(sequence, place);
}

async function lastEvent(em: SqlEntityManager, { table }: RunTable, id: Uuid): Promise<number> {
  const [row] = await em.execute<[{ last: number }]>(`select last_event as last from ${table} where id = ?`, [id]);
  return row.last;
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
