import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { Database, SqlEntityManager } from '../postgres/database.ts';
import type { PubSub } from '../postgres/pub-sub.ts';
import type { Logger } from '../telemetry/logs.ts';
import { RelayMetrics } from './relay-metrics.ts';
import { markRelayed, postponeEvent, RELAY_TOPIC, takeEvent, type RecordedEvent } from './outbox.ts';

/**
 * Passes an event on, by writing: the transaction acts for the event's tenant and also marks it relayed, so that each
 * consumer sees each event exactly once, in the order of its subject.
 */
export type EventConsumer = (em: SqlEntityManager, event: RecordedEvent) => Promise<void>;

export interface RelayOptions {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly consumers: readonly EventConsumer[];
  readonly logger: Logger;
  /** Where events are counted. */
  readonly registry?: Registry;
}

export interface Relay {
  /** Takes no more events and waits for the one under way. */
  close(): Promise<void>;
}

/** Without news the outbox is looked at this often: a postponed event announces itself to nobody. */
const LOOK_EVERY_MS = 1_000;
const OUTAGE_PAUSE_MS = 500;

/** Passes on what the outbox holds, woken by each commit. As many processes as like may relay side by side. */
export function startRelay(options: RelayOptions): Relay {
  const { database, pubSub, consumers, logger } = options;
  const metrics = new RelayMetrics(options.registry ?? new Registry());
  const closing = new AbortController();
  const news = pubSub.subscribe(RELAY_TOPIC);
  let wake = (): void => undefined;
  const listening = (async () => {
    for await (const _ of news) wake();
  })();

  /** True when an event was passed on, or has been put off. */
  const relayOne = async (): Promise<boolean> => {
    let taken: RecordedEvent | undefined;
    try {
      const relayed = await database.asNobody(async (em) => {
        taken = await takeEvent(em);
        if (taken === undefined) return undefined;
        for (const consume of consumers) await consume(em, taken);
        await markRelayed(em, taken);
        return taken;
      });
      if (relayed !== undefined) metrics.relayed(relayed.type);
      return relayed !== undefined;
    } catch (error) {
      logger.warn({ err: error, eventId: taken?.eventId, type: taken?.type }, 'an event could not be relayed and will be tried again');
      const { eventId } = taken ?? {};
      if (eventId === undefined) throw error;
      metrics.failed();
      await database.asNobody((em) => postponeEvent(em, eventId));
      return true;
    }
  };

  const relaying = (async () => {
    while (!closing.signal.aborted) {
      // News that comes while the outbox is being emptied must not be slept through.
      const woken = new Promise<void>((resolve) => (wake = resolve));
      try {
        while (!closing.signal.aborted && (await relayOne()));
        const pause = new AbortController();
        await Promise.race([woken, sleep(LOOK_EVERY_MS, undefined, { signal: pause.signal }).catch(() => undefined)]);
        pause.abort();
      } catch {
        // The database is away; it was logged.
        await sleep(OUTAGE_PAUSE_MS);
      }
    }
  })();

  return {
    async close() {
      closing.abort();
      wake();
      await news.return?.();
      await Promise.all([relaying, listening]);
    },
  };
}
