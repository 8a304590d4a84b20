import type { Database } from '../postgres/database.ts';
import { JOBS_SCHEMA } from './jobs-migrations.ts';
import { TAKING_JOBS } from './jobs.ts';

/** How a queue stands, over all processes. */
export interface QueueStanding {
  /** Jobs whose time has come and that nobody has taken. */
  readonly waiting: number;
  /** How long the eldest of these has waited; 0 when there is none. */
  readonly oldestWaitS: number;
  /** Jobs that somebody works on, or did until lately. */
  readonly running: number;
  /** Whether a process that takes jobs is connected to the database. */
  readonly isServed: boolean;
}

/**
 * Asks in one question, by the database's clock. Who takes jobs says so in the name of its connections, which every
 * role of PostgreSQL may see.
 * @throws ProblemError `service_unavailable`
 */
export async function queueStanding(database: Database, queue: string): Promise<QueueStanding> {
  const [standing] = await database.ask<QueueStanding>({
    name: 'jobs.standing',
    text: `select w.waiting, w.oldest_s as "oldestWaitS", r.running,
                  exists (select from pg_stat_activity
                    where datname = current_database() and application_name = $2) as "isServed"
           from (select count(*)::int as waiting,
             coalesce(extract(epoch from clock_timestamp() - min(greatest(created_on, start_after))),
               0)::float8 as oldest_s
                 from ${JOBS_SCHEMA}.job where name = $1 and state < 'active' and start_after <= clock_timestamp()
                   and not blocked) w,
                (select count(*)::int as running from ${JOBS_SCHEMA}.job where name = $1 and state = 'active') r`,
    values: [queue, TAKING_JOBS],
  });
  return standing!;
}
