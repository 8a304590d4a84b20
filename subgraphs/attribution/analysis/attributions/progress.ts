import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { Environment } from '../../../../schema/principal.ts';
import { SequencedWatch, type WatchedSequence } from '../../../../services/events/sequenced-watch.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database, type TenantScope } from '../../../../platform/postgres/database.ts';
import type { PubSub } from '../../../../platform/postgres/pub-sub.ts';
import type { Logger } from '../../../../platform/telemetry/logs.ts';
import type { AttributionFailure, AttributionModel } from './attribution.ts';
import type { ChannelFigures } from './figures.ts';

/** Where a run is; the order is the order of the work. */
export type Stage =
  | 'queued'
  | 'loading'
  | 'building_journeys'
  | `model:${AttributionModel}`
  | 'combining'
  | 'intervals'
  | 'signing';

/** One thing that a watcher of a run is told. `shown`: the channels that the analysis is restricted to, if it is. */
export type ProgressEvent =
  | { readonly kind: 'PROGRESS'; readonly stage: Stage; readonly progress: number; readonly message: string }
  | {
      readonly kind: 'CHANNEL_RESULT';
      readonly model: AttributionModel;
      readonly progress: number;
      readonly revenueCents: number;
      readonly channels: readonly ChannelFigures[];
      readonly shown?: readonly string[] | null;
    }
  | { readonly kind: 'RESULT' }
  | { readonly kind: 'ERROR'; readonly failure: AttributionFailure };

/** An event at its place in the run's history, counted from 1 without gaps. */
export interface SequencedEvent {
  readonly sequence: number;
  readonly event: ProgressEvent;
}

/** An analysis, and whose it is. */
export interface ScopedRun {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly environment: Environment;
}

/** One of its runs, by the revision that it is to make. */
export interface RevisionRun extends ScopedRun {
  readonly revision: number;
}

const topicOf = (attributionId: Uuid) => `attribution-progress:${attributionId}`;

/**
 * Appends events in the caller's transaction and tells every watcher at its commit. The row of the analysis is locked,
 * so that numbers come in the order of the commits.
 */
export async function appendProgress(
  em: SqlEntityManager,
  pubSub: PubSub,
  run: ScopedRun,
  events: readonly ProgressEvent[],
): Promise<void> {
  const rows = await em.execute<{ sequence: number }[]>(
    `with counted as (update attribution.attributions set last_event = last_event + ?::int where id = ?
      returning last_event)
     insert into attribution.attribution_progress (attribution_id, account_id, sequence, event)
     select ?, ?, last_event - ?::int + place, event
     from counted, jsonb_array_elements(?::jsonb) with ordinality as given(event, place) order by place
     returning sequence`,
    [events.length, run.id, run.id, run.accountId, events.length, JSON.stringify(events)],
  );
  for (const [index, event] of events.entries()) {
    const sequenced: SequencedEvent = { sequence: Number(rows[index]!.sequence), event };
    await pubSub.publish(em, topicOf(run.id), sequenced);
  }
}

/**
 * Locks a run until the transaction ends; false when it is over, by its end, by being cancelled or by another attempt.
 */
async function isUnderWay(em: SqlEntityManager, { id, revision }: RevisionRun): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `select 1 from attribution.attributions where id = ? and status = 'processing' and revision + (result is not ` +
      `null)::int = ? for update`,
    [id, revision],
  );
  return rows.length > 0;
}

/** A refresh tells a story of its own; its numbers go on behind those of the last run. */
export async function forgetProgress(em: SqlEntityManager, attributionId: Uuid): Promise<void> {
  await em.execute(`delete from attribution.attribution_progress where attribution_id = ?`, [attributionId]);
}

export interface ProgressWriterServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly logger: Logger;
}

/**
 * Writes progress beside the work: events queue while a write is under way and go out together,
 * so that reporting never holds up the analysis. Each write is durable before anyone hears of it: were told events lost
 * in a crash of the database, their numbers would be given again, and a watcher would take the result for an old event.
 */
export class ProgressWriter {
  readonly #services: ProgressWriterServices;
  readonly #run: RevisionRun;
  #queue: ProgressEvent[] = [];
  #writing: Promise<void> | null = null;

  constructor(services: ProgressWriterServices, run: RevisionRun) {
    this.#services = services;
    this.#run = run;
  }

  /** Queues an event; returns at once. */
  push(event: ProgressEvent): void {
    this.#queue.push(event);
    this.#writing ??= this.#write();
  }

  /** Resolves when everything pushed is written, or could not be. */
  async drain(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { database, pubSub, logger } = this.#services;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await database.asTenant(wholeAccount(this.#run), async (em) => {
          // Nothing follows the event that ends a run.
          if (await isUnderWay(em, this.#run)) await appendProgress(em, pubSub, this.#run, batch);
        });
      } catch (error) {
        // The work is worth more than the news of it; the result will tell everything.
        logger.warn(
          { err: error, attributionId: this.#run.id, events: batch.length },
          'progress of an analysis could not be written',
        );
      }
    }
    this.#writing = null;
  }
}

/** The history of a run from behind `after`, and then what happens, until the run ends. */
export function watchProgress(
  database: Database,
  pubSub: PubSub,
  scope: TenantScope,
  attributionId: Uuid,
  after: number,
): SequencedWatch<SequencedEvent> {
  const sequence: WatchedSequence<SequencedEvent> = {
    news: pubSub.subscribe<SequencedEvent>(topicOf(attributionId)),
    placeOf: (event) => event.sequence,
    read: (last) => database.asTenant(scope, (em) => eventsAfter(em, attributionId, last)),
    isLast: ({ event }) => event.kind === 'RESULT' || event.kind === 'ERROR',
  };
  return new SequencedWatch(sequence, after);
}

/** Number of the last event of a run, and whether any behind `after` is still kept. */
export async function endOfProgress(
  em: SqlEntityManager,
  attributionId: Uuid,
  after: number,
): Promise<{ readonly last: number; readonly holdsMore: boolean }> {
  const [row] = await em.execute<[{ last: number; more: boolean }]>(
    `select last_event as last, exists (select from attribution.attribution_progress where attribution_id = id and ` +
      `sequence > ?) as more from attribution.attributions where id = ?`,
    [after, attributionId],
  );
  return { last: row.last, holdsMore: row.more };
}

/** How far each of these runs has come, in [0, 1]. */
export async function latestProgress(
  em: SqlEntityManager,
  attributionIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, number>> {
  if (attributionIds.length === 0) return new Map();
  const rows = await em.execute<{ id: Uuid; progress: number }[]>(
    `select attribution_id as id, max((event ->> 'progress')::float8) as progress from ` +
      `attribution.attribution_progress where attribution_id in (?) group by attribution_id`,
    [attributionIds],
  );
  return new Map(rows.map((row) => [row.id, row.progress]));
}

async function eventsAfter(em: SqlEntityManager, attributionId: Uuid, after: number): Promise<SequencedEvent[]> {
  return em.execute<SequencedEvent[]>(
    `select sequence, event from attribution.attribution_progress where attribution_id = ? and sequence > ? order by ` +
      `sequence`,
    [attributionId, after],
  );
}
