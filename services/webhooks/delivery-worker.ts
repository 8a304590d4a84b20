import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { newUuid, type Uuid } from '../../platform/identifiers.ts';
import type { Caller } from '../../platform/outgoing/caller.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';
import { startRounds } from '../../platform/jobs/rounds.ts';
import type { ClaimedDelivery } from './delivery.ts';
import { DeliveryMetrics } from './delivery-metrics.ts';
import { claimDueDeliveries, DELIVERIES_TOPIC, extendLeases, msToNextDelivery } from './delivery-store.ts';
import type { EndpointSecrets } from './endpoint-secret.ts';
import { messageOf } from './message.ts';
import { sendMessage } from './send-message.ts';
import { settleDelivery, type SettleServices } from './settle-delivery.ts';

export interface DeliveryWorkerOptions extends SettleServices {
  readonly caller: Caller;
  readonly secrets: EndpointSecrets;
  readonly logger: Logger;
  readonly clock: () => Date;
  /** What a sender that fell silent had claimed is sent by another within this time. */
  readonly leaseMs: number;
  /** Where attempts are counted. */
  readonly registry?: Registry;
}

export interface DeliveryWorker {
  /** Claims nothing more and waits a moment for what is under way; what still is then, will be sent again. */
  close(): Promise<void>;
}

/** A message under way costs a socket and no work, so there may be many. */
const MOST_AT_A_TIME = 256;
const MOST_PER_ACCOUNT = 64;
/** A dead endpoint holds this many of them for as long as the time limit, and fewer once it has run into that. */
const MOST_PER_ENDPOINT = 8;
const MOST_PER_SLOW_ENDPOINT = 2;
/** Without news the queue is looked at this often: leases of dead senders run out silently. */
const LOOK_EVERY_MS = 1_000;
const GOODBYE_MS = 4_000;

/**
 * Sends what is due, woken by commits and by the time. The attempts in the database are the queue: one is claimed for a
 * lease, sent outside of any transaction, and settled. As many processes as like may do so side by side.
 */
export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { database, pubSub, logger, leaseMs } = options;
  const metrics = new DeliveryMetrics(options.registry ?? new Registry());
  const sender = newUuid();
  const underWay = new Map<
    Uuid,
    { readonly endpointId: Uuid; readonly accountId: string; readonly work: Promise<void> }
  >();

  const extending = setInterval(() => {
    if (underWay.size === 0) return;
    database
      .asNobody((em) => extendLeases(em, sender, [...underWay.keys()], leaseMs))
      .catch((error: unknown) => logger.warn({ err: error }, 'the claims on webhook deliveries could not be extended'));
  }, leaseMs / 3);

  const deliver = async (delivery: ClaimedDelivery): Promise<void> => {
    try {
      await metrics.counted(async () => {
        const outcome = await sendMessage(
          options.caller,
          delivery.url,
          messageOf(delivery, options.secrets),
          options.clock,
        );
        await settleDelivery(options, sender, delivery, outcome);
        return outcome;
      });
    } catch (error) {
      logger.warn(
        { err: error, deliveryId: delivery.id, attempt: delivery.attempt },
        'a webhook delivery was left unfinished and will be sent again when its claim has run out',
      );
    }
  };

  /** Whether something may wait for one of these to end: only then is it worth looking. */
  const isFull = ({ endpointId, accountId }: ClaimedDelivery): boolean => {
    const others = [...underWay.values()];
    return (
      others.length >= MOST_AT_A_TIME ||
      others.filter((each) => each.accountId === accountId).length >= MOST_PER_ACCOUNT ||
      others.filter((each) => each.endpointId === endpointId).length >= MOST_PER_SLOW_ENDPOINT
    );
  };

  /** Claims what there is room for. @returns how long there is nothing more to do, at most, unless somebody wakes us */
  const claim = async (): Promise<number> => {
    const most = MOST_AT_A_TIME - underWay.size;
    if (most === 0) return LOOK_EVERY_MS;
    const { claimed, nextMs } = await database.asNobody(async (em) => ({
      claimed: await claimDueDeliveries(em, {
        sender,
        leaseMs,
        most,
        perAccount: MOST_PER_ACCOUNT,
        perEndpoint: MOST_PER_ENDPOINT,
        perSlowEndpoint: MOST_PER_SLOW_ENDPOINT,
      }),
      nextMs: await msToNextDelivery(em),
    }));
    for (const delivery of claimed) {
      const work = deliver(delivery).finally(() => {
        const isMissed = isFull(delivery);
        underWay.delete(delivery.id);
        if (isMissed) rounds.wake();
      });
      underWay.set(delivery.id, { endpointId: delivery.endpointId, accountId: delivery.accountId, work });
    }
    return Math.min(LOOK_EVERY_MS, Math.max(1, nextMs ?? LOOK_EVERY_MS));
  };

  const rounds = startRounds({
    pubSub,
    topic: DELIVERIES_TOPIC,
    work: claim,
    failed: (error) => logger.debug({ err: error }, 'the queue of webhook deliveries is out of reach'),
  });

  return {
    async close() {
      await rounds.close();
      await Promise.race([
        Promise.all([...underWay.values()].map(({ work }) => work)),
        sleep(GOODBYE_MS, undefined, { ref: false }),
      ]);
      clearInterval(extending);
    },
  };
}
