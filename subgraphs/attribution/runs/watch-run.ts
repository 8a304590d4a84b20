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
  const { isOver, last } = await database.asTenant(principal, async (em) => {
    const run = await requireRun(em, runs, id);
    const end = await endOfProgress(em, runs, id, after);
    return { isOver: isFinished(run) && !end.holdsMore, last: end.last };
  });
  if (isOver) return NOTHING_FOLLOWS;
  const sequence: WatchedSequence<SequencedEvent<Partial>> = {
    news: pubSub.subscribe<SequencedEvent<Partial>>(progressTopic(runs, id)),
    placeOf: (event) => event.sequence,
    read: (seen) => database.asTenant(principal, (em) => eventsAfter(em, runs, id, seen)),
    isLast: ({ event }) => event.kind === 'RESULT' || event.kind === 'ERROR',
  };
  // A place that nothing has reached yet would hide the end, and the watcher would wait for ever.
  return new SequencedWatch(sequence, Math.min(after, last));
}

const NOTHING_FOLLOWS: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** Number of the last event of a run, and whether any behind `after` is still kept. */
async function endOfProgress(
  em: SqlEntityManager,
  { table, progressTable }: RunTable,
  id: Uuid,
  after: number,
): Promise<{ readonly last: number; readonly holdsMore: boolean }> {
  const [row] = await em.execute<[{ last: number; more: boolean }]>(
    `select last_event as last, exists (select from ${progressTable} where run_id = id and sequence > ?) as more
     from ${table} where id = ?`,
    [after, id],
  );
  return { last: row.last, holdsMore: row.more };
}

async function eventsAfter<Partial extends PartialResult>(
  em: SqlEntityManager,
  { progressTable }: RunTable,
  id: Uuid,
  after: number,
): Promise<SequencedEvent<Partial>[]> {
  return em.execute<SequencedEvent<Partial>[]>(
    `select sequence, event from ${progressTable} where run_id = ? and sequence > ? order by sequence`,
    [id, after],
  );
}
