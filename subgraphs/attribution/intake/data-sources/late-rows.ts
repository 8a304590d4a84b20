import { z } from 'zod';
import { ENVIRONMENTS } from '../../../../schema/value-lists.ts';
import type { Environment } from '../../../../schema/principal.ts';
import { ONE_BY_ONE, type JobQueue, type Jobs } from '../../../../platform/jobs/jobs.ts';
import { uuid, type Uuid } from '../../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { DataSource } from './data-source.ts';
import type { Joined } from './joined-sources.ts';

/** A source that has received rows. */
export interface LateRowsJob {
  readonly accountId: Uuid;
  readonly environment: Environment;
  readonly dataSourceId: Uuid;
}

export const LATE_ROWS_QUEUE: JobQueue<LateRowsJob> = {
  name: 'data-source.late-rows',
  data: z.object({ accountId: uuid, environment: z.enum(ENVIRONMENTS), dataSourceId: uuid }),
  // Nobody asks again for a look that failed, so it is tried for long.
  retryLimit: 20,
  ...ONE_BY_ONE,
};

/** Files often come in a row; one look at what they changed is enough. */
const SETTLE_S = 2;

/**
 * Names what a source has received so far, and its channel rules: as long as it stays the same, analyses find the same.
 */
export type Arrivals = string;

/**
 * Part of the transaction that records new rows of a source, or that ends an analysis of them: a worker will look at
 * what they change. While one look waits to begin, further ones are dropped; the lock, held until the commit, makes
 * that look wait for whoever was dropped.
 */
export async function noticeLateRows(em: SqlEntityManager, jobs: Jobs, source: LateRowsJob): Promise<void> {
  await em.execute(`select pg_advisory_xact_lock_shared(${LOCK})`, [source.dataSourceId]);
  await enqueueLook(em, jobs, source);
}

/** The same, if rows of any of the sources that an analysis read have come since `before`: one look is enough. */
export async function noticeRowsSince(
  em: SqlEntityManager,
  jobs: Jobs,
  analysis: Pick<LateRowsJob, 'accountId' | 'environment'>,
  dataSourceIds: Joined<Uuid>,
  before: Arrivals | null,
): Promise<void> {
  for (const id of dataSourceIds.toSorted()) await em.execute(`select pg_advisory_xact_lock_shared(${LOCK})`, [id]);
  if ((await arrivalsOf(em, dataSourceIds)) !== before)
    await enqueueLook(em, jobs, { ...analysis, dataSourceId: dataSourceIds[0] });
}

/** First step of a look: whatever was noticed before it began is committed from here on. */
export async function awaitNotices(em: SqlEntityManager, { dataSourceId }: LateRowsJob): Promise<void> {
  await em.execute(`select pg_advisory_xact_lock(${LOCK})`, [dataSourceId]);
}

/** The look at the late rows of a source. */
export function lateRowsOf({ accountId, environment, id }: DataSource): LateRowsJob {
  return { accountId, environment, dataSourceId: id as Uuid };
}

/** Null where one of the sources was deleted. */
export async function arrivalsOf(em: SqlEntityManager, dataSourceIds: Joined<Uuid>): Promise<Arrivals | null> {
  const rows = await em.execute<{ arrivals: string }[]>(
    `select concat_ws(' ', rows_accepted, last_sync, channel_rules_digest) as arrivals from attribution.data_sources ` +
      `where id = any (?::text::uuid[]) and deleted_at is null order by id`,
    [`{${dataSourceIds.join(',')}}`],
  );
  return rows.length < dataSourceIds.length ? null : rows.map(({ arrivals }) => arrivals).join(', ');
}

/** Part of the transaction that accepts an analysis which wants to hear of late rows of its sources. */
export async function listenToLateRows(em: SqlEntityManager, dataSourceIds: Joined<Uuid>): Promise<void> {
  // In the order of their ids: two such transactions never wait for each other.
  for (const id of dataSourceIds.toSorted())
    await em.execute(
      `update attribution.data_sources set feeds_refreshes = true where id = ? and not feeds_refreshes`,
      [id],
    );
}

const LOCK = `hashtextextended('late rows ' || ?, 0)`;

async function enqueueLook(
  em: SqlEntityManager,
  jobs: Jobs,
  { accountId, environment, dataSourceId }: LateRowsJob,
): Promise<void> {
  await jobs.enqueue(
    em,
    LATE_ROWS_QUEUE,
    { accountId, environment, dataSourceId },
    { singletonKey: dataSourceId, startAfterS: SETTLE_S, tenant: accountId },
  );
}
