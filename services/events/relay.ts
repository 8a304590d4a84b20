import { Registry } from 'prom-client';
import type { Database, SqlEntityManager } from '../../platform/postgres/database.ts';
import type { PubSub } from '../../platform/postgres/pub-sub.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';
import { RelayMetrics } from './relay-metrics.ts';
import { markRelayed, postponeEvent, RELAY_TOPIC, takeEvent, type RecordedEvent } from './outbox.ts';
import { startRounds } from '../../platform/jobs/rounds.ts';

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

/** Passes on what the outbox holds, woken by each commit. As many processes as like may relay side by side. */
export function startRelay(options: RelayOptions): Relay {
  const { database, pubSub, consumers, logger } = options;
  const metrics = new RelayMetrics(options.registry ?? new Registry());

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
      if (taken === undefined) throw error;
      const { eventId, type } = taken;
      logger.warn({ err: error, eventId, type }, 'an event could not be relayed and will be tried again');
      metrics.failed();
      await database.asNobody((em) => postponeEvent(em, eventId));
      return true;
    }
  };

  return startRounds({
    pubSub,
    topic: RELAY_TOPIC,
    work: async (closing) => {
      while (!closing.aborted && (await relayOne()));
      return LOOK_EVERY_MS;
    },
    failed: (error) => logger.warn({ err: error }, 'the events that wait to be relayed are out of reach'),
  });
}
