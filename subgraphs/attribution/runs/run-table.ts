import type { EntityName, SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../../schema/problems.ts';
import type { IdPrefix } from '../../../schema/id-prefixes.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { Run } from './run.ts';

/** Where the runs of a kind are kept, and how they are called. */
export interface RunTable {
  /** `attribution`: of its queues and topics, and in "There is no attribution attr_…". */
  readonly name: string;
  /** As messages have it: `analysis`. */
  readonly noun: string;
  readonly prefix: IdPrefix;
  /** With the columns of `runColumns`, and `last_event`. */
  readonly table: string;
  /** Of its progress: `run_id`, `account_id`, `sequence`, `event`. */
  readonly progressTable: string;
  /** A run of more rows is large: some places of a process stay free of such runs. */
  readonly manyRows: number;
}

/** The same, with what MikroORM reads a row by. */
export interface StoredRuns<Row extends Run> extends RunTable {
  readonly entity: EntityName<Row>;
}

/** One run, and whose it is. */
export type ScopedRun = Pick<Run, 'id' | 'accountId' | 'environment'>;

/** One attempt at a run, by the revision that it is to make. */
export interface RevisionRun extends ScopedRun {
  readonly revision: number;
}

/**
 * The run, in the tenant's transaction; row level security does the rest. Deleted ones are not there any more.
 * @throws ProblemError `resource_not_found`, for another tenant's run exactly as for an unknown one
 */
export async function requireRun<Row extends Run>(em: SqlEntityManager, runs: StoredRuns<Row>, id: Uuid): Promise<Row> {
  return (await findRun(em, runs, id)) ?? refuseUnknown(runs, id);
}

/** @throws ProblemError `resource_not_found`, always */
export function refuseUnknown(runs: RunTable, id: Uuid): never {
  throw new ProblemError('resource_not_found', `There is no ${runs.name} ${publicId(runs.prefix, id)}.`);
}

/** Locks the row until the transaction ends; null when it is gone. */
export async function lockRun<Row extends Run>(
  em: SqlEntityManager,
  runs: StoredRuns<Row>,
  id: Uuid,
): Promise<Row | null> {
  await em.execute(`select 1 from ${runs.table} where id = ? for update`, [id]);
  return findRun(em, runs, id);
}

/** As it stands in the database now, not as this transaction may have read it before. */
async function findRun<Row extends Run>(em: SqlEntityManager, runs: StoredRuns<Row>, id: Uuid): Promise<Row | null> {
  return em.findOne<Row>(runs.entity, { id, deletedAt: null } as never, { refresh: true });
}
