import type { Logger } from '../platform/telemetry/logs.ts';
import type { Database } from '../platform/postgres/database.ts';

const EVERY_MS = 10 * 60_000;

/** What has served its time, and when. */
const FORGETTERS = [
  'auth.forget_old_nonces()', // a day
  'auth.forget_old_rate_windows()', // their day
  'auth.forget_old_failures()', // an hour
  'auth.forget_old_endpoint_calls()', // two years, those of the sandbox 30 days
  'auth.forget_old_grants()', // codes after 31 days, tokens a day after their end
  'idempotency.forget_old_claims()', // a day
  'attribution.forget_old_progress()', // an hour after the end of its analysis
  'attribution.forget_old_sandbox_results()', // 30 days
  'attribution.forget_old_insights()', // 30 days after their end, with their progress
  'billing.forget_old_sandbox_proofs()', // 30 days
  'billing.forget_old_sandbox_subscriptions()', // 30 days
  'events.forget_old_events()', // 90 days after they were relayed
  'events.forget_old_deliveries()', // 90 days after they were made
  'events.forget_old_accesses()', // their hour
  'events.coarsen_old_addresses()', // exact addresses of the audit log, after 90 days
] as const;

/**
 * Forgets now and then what need not be kept, and does the other `chores`, such as replacing keys that have signed for
 * long enough. Any number of processes may do so; one of them finds the work.
 */
export function startHousekeeping(
  database: Database,
  logger: Logger,
  chores: readonly (() => Promise<void>)[],
): { stop(): void } {
  const timer = setInterval(() => {
    Promise.all([tidy(database), ...chores.map((chore) => chore())]).catch((error: unknown) =>
      logger.warn({ err: error }, 'housekeeping failed and will be tried again'),
    );
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
