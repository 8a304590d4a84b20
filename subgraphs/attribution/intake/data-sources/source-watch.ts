import { SequencedWatch } from '../../../../services/events/sequenced-watch.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { Database, TenantScope } from '../../../../platform/postgres/database.ts';
import { RESYNC, type PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { Subscription } from '../../../../platform/postgres/subscription.ts';
import type { DataSource } from './data-source.ts';
import { DataSourceStore } from './data-source-store.ts';

/** A source as it stood. */
export interface SourceState {
  /** Rises with every change that was seen; changes in quick succession may share one. */
  readonly sequence: number;
  readonly source: DataSource;
  readonly at: Date;
}

export interface SourceWatchServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly clock: () => Date;
}

/** Migration 022 tells it at the commit of every change, whoever makes it. */
const topicOf = (dataSourceId: Uuid) => `data-source:${dataSourceId}`;

/**
 * The state of a source where it is not the one after `after`, and then every new one, until the source is deleted.
 * A watcher that is slower than the changes sees the last of them.
 */
export function watchSource(
  { database, pubSub, clock }: SourceWatchServices,
  scope: TenantScope,
  dataSourceId: Uuid,
  after: number,
): SequencedWatch<SourceState> {
  const told = pubSub.subscribe(topicOf(dataSourceId));
  let lapse: NodeJS.Timeout | undefined;
  let isOver = false;
  // The news are only that there are some; the state is read.
  const news = new Subscription<never>(() => {
    isOver = true;
    clearTimeout(lapse);
    void told.return?.();
  });
  void (async () => {
    for await (const _ of told) news.push(RESYNC);
    await news.return();
  })();

  const read = async (): Promise<SourceState[] | null> => {
    const source = await database.asTenant(scope, (em) => new DataSourceStore(em).find(dataSourceId));
    if (source === null) return null;
    const at = clock();
    const leftMs = source.syncingUntil == null ? 0 : source.syncingUntil.getTime() - at.getTime();
    clearTimeout(lapse);
    // An upload that was killed ends by the clock alone, which tells nobody.
    if (leftMs > 0 && !isOver) lapse = setTimeout(() => news.push(RESYNC), leftMs + 1).unref();
    return [{ sequence: sequenceOf(source, leftMs), source, at }];
  };
  return new SequencedWatch<SourceState>(
    { tenant: scope.accountId, news, placeOf: ({ sequence }) => sequence, read },
    after,
  );
}

/** The last place that a source can have without a further change. */
export function lastSequence({ statusVersion }: DataSource): number {
  return 2 * statusVersion + 1;
}

/** Two numbers for each version of the row: the second is for a lease that has run out without a further change. */
function sequenceOf({ statusVersion, syncingUntil }: DataSource, leftMs: number): number {
  return 2 * statusVersion + (syncingUntil != null && leftMs <= 0 ? 1 : 0);
}
