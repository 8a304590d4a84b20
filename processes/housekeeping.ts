import type { Logger } from '../platform/telemetry/logs.ts';
import type { Database } from '../platform/postgres/database.ts';

const EVERY_MS = 10 * 60_000;

/** What has served its time: nonces after a day, the progress of finished analyses after an hour, relayed events after 90 days. */
const FORGETTERS = ['auth.forget_old_nonces()', 'attribution.forget_old_progress()', 'events.forget_old_events()'] as const;

/** Forgets now and then what need not be kept, and replaces keys that have signed for long enough. Any number of processes may do so; one of them finds the work. */
export function startHousekeeping(database: Database, logger: Logger, replaceOldKeys: () => Promise<void>): { stop(): void } {
  const timer = setInterval(() => {
    Promise.all([tidy(database), replaceOldKeys()]).catch((error: unknown) => logger.warn({ err: error }, 'housekeeping failed and will be tried again'));
  }, EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** One round; how many rows each forgetter let go, by its name. */
export async function tidy(database: Database): Promise<ReadonlyMap<string, number>> {
  const forgotten = new Map<string, number>();
  for (const forgetter of FORGETTERS) {
    const [row] = await database.asNobody((em) => em.execute<[{ rows: string }]>(`select ${forgetter} as rows`));
    forgotten.set(forgetter, Number(row.rows));
  }
  return forgotten;
}
