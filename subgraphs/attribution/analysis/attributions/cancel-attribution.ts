import { z } from 'zod';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Principal } from '../../../../schema/principal.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import type { Settle } from '../../../../services/idempotency/exactly-once.ts';
import { publicId, uuid, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../../platform/postgres/database.ts';
import { RESYNC, type PubSub } from '../../../../platform/postgres/pub-sub.ts';
import type { Logger } from '../../../../platform/telemetry/logs.ts';
import type { Attribution } from './attribution.ts';
import { AttributionStore } from './attribution-store.ts';
import { failAnalysis, type EndingServices } from './end-attribution.ts';
import type { ScopedRun } from './progress.ts';
import { RUN_QUEUE } from './run-attribution.ts';

const topicOf = (attributionId: Uuid) => `attribution-cancelled:${attributionId}`;

/** The analysis that is cancelled. */
export const cancelEffect = z.object({ attributionId: uuid });

/**
 * Ends an analysis that has not ended by itself. One that waits never begins; a worker that is at it hears of the
 * commit and stops its computations at their next look at their flag. Cancelling again changes nothing.
 * @throws ProblemError `resource_not_found`; `conflict` with code `already_finished`
 */
export async function cancelAttribution(
  services: EndingServices & { readonly jobs: Jobs },
  principal: Principal,
  id: Uuid,
  settle: Settle<z.output<typeof cancelEffect>>,
): Promise<Attribution> {
  // What has figures keeps them: it is refused without a wait for whoever is bringing them up to date.
  refuseFinished(await services.database.asTenant(principal, (em) => new AttributionStore(em).require(id)));
  return services.database.asTenant(principal, async (em) => {
    const store = new AttributionStore(em);
    const attribution = (await store.lock(id)) ?? (await store.require(id));
    refuseFinished(attribution);
    if (attribution.failure?.code !== 'cancelled') {
      await failAnalysis(em, services, attribution, {
        code: 'cancelled',
        message: 'The analysis was cancelled. Nothing is billed.',
      });
      await services.jobs.withdraw(em, RUN_QUEUE, id);
      await services.pubSub.publish(em, topicOf(id), null);
    }
    await settle(em, { attributionId: id });
    return attribution;
  });
}

function refuseFinished(attribution: Attribution): void {
  if (
    attribution.failure?.code === 'cancelled' ||
    (attribution.revisionUnderWay() !== null && !attribution.isRefreshing())
  )
    return;
  const id = publicId('attr', attribution.id);
  const message = attribution.isRefreshing()
    ? `${id} is completed and cannot be cancelled: late rows have changed its source, and its figures are being ` +
      `brought up to date.`
    : `${id} is ${attribution.status} already: there is nothing to cancel.`;
  throw new ProblemError('conflict', message, { code: 'already_finished' });
}

/** A worker's view of whether its analysis is cancelled. */
export interface CancellationWatch {
  /** Aborts within milliseconds of the commit that cancels. */
  readonly signal: AbortSignal;
  stop(): Promise<void>;
}

export interface WatchServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly logger: Logger;
}

/** Listens from this call on: whoever reads the row afterwards misses nothing. */
export function watchCancellation(services: WatchServices, run: ScopedRun): CancellationWatch {
  const cancelled = new AbortController();
  const notices = services.pubSub.subscribe<null>(topicOf(run.id));
  const watching = (async () => {
    for await (const notice of notices) if (notice !== RESYNC || (await isCancelled(services, run))) cancelled.abort();
  })();
  return {
    signal: cancelled.signal,
    async stop() {
      await notices.return?.();
      await watching;
    },
  };
}

/**
 * A notice that was missed costs the rest of a computation that nobody wants, and so a failed look is no reason to end
 * the run.
 */
async function isCancelled({ database, logger }: WatchServices, run: ScopedRun): Promise<boolean> {
  try {
    const rows = await database.asTenant(wholeAccount(run), (em) =>
      em.execute<{ status: string }[]>(`select status from attribution.attributions where id = ?`, [run.id]),
    );
    return rows[0]?.status === 'failed';
  } catch (error) {
    logger.warn(
      { err: error, attribution: publicId('attr', run.id) },
      'whether an analysis was cancelled could not be read; it goes on',
    );
    return false;
  }
}
