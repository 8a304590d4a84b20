import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import type { RunFailure } from './run.ts';
import type { RevisionRun, RunTable, ScopedRun } from './run-table.ts';

/** Where a run is. */
export interface StageEvent {
  readonly kind: 'PROGRESS';
  readonly stage: string;
  /** In [0, 1]. */
  readonly progress: number;
  readonly message: string;
  /** Rounds of what the stage iterates, and whether they ended where they should; absent where nothing iterates. */
  readonly iteration?: number;
  readonly converged?: boolean;
  /** Seconds until the end, at the pace so far; absent while there is no pace yet. */
  readonly etaS?: number;
}

/** What a kind of run shows of its result before the end. */
export interface PartialResult {
  readonly kind: string;
  readonly progress: number;
}

/** One thing that a watcher of a run is told. */
export type RunEvent<Partial extends PartialResult = PartialResult> =
  | StageEvent
  | Partial
  | { readonly kind: 'RESULT' }
  | { readonly kind: 'ERROR'; readonly failure: RunFailure };

/** An event at its place in the run's history, counted from 1 without gaps. */
export interface SequencedEvent<Partial extends PartialResult = PartialResult> {
  readonly sequence: number;
  readonly event: RunEvent<Partial>;
}

/** Where the events of a run are told. */
export const progressTopic = (runs: RunTable, id: Uuid): string => `${runs.name}-progress:${id}`;

/**
 * Appends events in the caller's transaction and tells every watcher at its commit. The row of the run is locked, so
 * that numbers come in the order of the commits.
 */
export async function appendProgress(
  em: SqlEntityManager,
  pubSub: PubSub,
  runs: RunTable,
  run: ScopedRun,
  events: readonly RunEvent[],
): Promise<void> {
  const rows = await em.execute<{ sequence: number }[]>(
    `with counted as (update ${runs.table} set last_event = last_event + ?::int where id = ? returning last_event)
     insert into ${runs.progressTable} (run_id, account_id, sequence, event)
     select ?, ?, last_event - ?::int + place, event
     from counted, jsonb_array_elements(?::jsonb) with ordinality as given(event, place) order by place
     returning sequence`,
    [events.length, run.id, run.id, run.accountId, events.length, JSON.stringify(events)],
  );
  for (const [index, event] of events.entries()) {
    const sequenced: SequencedEvent = { sequence: Number(rows[index]!.sequence), event };
    await pubSub.publish(em, progressTopic(runs, run.id), sequenced);
  }
}

/**
 * Locks a run until the transaction ends; false when it is over, by its end, by being cancelled or by another attempt.
 */
export async function isUnderWay(
  em: SqlEntityManager,
  runs: RunTable,
  { id, revision }: RevisionRun,
): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `select 1 from ${runs.table}
     where id = ? and status = 'processing' and revision + (result is not null)::int = ? for update`,
    [id, revision],
  );
  return rows.length > 0;
}

/** A refresh tells a story of its own; its numbers go on behind those of the last run. */
export async function forgetProgress(em: SqlEntityManager, runs: RunTable, id: Uuid): Promise<void> {
  await em.execute(`delete from ${runs.progressTable} where run_id = ?`, [id]);
}

/** How far each of these runs has come, in [0, 1]. */
export async function latestProgress(
  em: SqlEntityManager,
  runs: RunTable,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, number>> {
  if (ids.length === 0) return new Map();
  const rows = await em.execute<{ id: Uuid; progress: number }[]>(
    `select run_id as id, max((event ->> 'progress')::float8) as progress
     from ${runs.progressTable} where run_id in (?) group by run_id`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row.progress]));
}
