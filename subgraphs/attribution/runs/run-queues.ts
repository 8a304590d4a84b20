import { z } from 'zod';
import { ENVIRONMENTS } from '../../../schema/value-lists.ts';
import type { Environment } from '../../../schema/principal.ts';
import type { JobQueue } from '../../../platform/jobs/jobs.ts';
import { uuid, type Uuid } from '../../../platform/identifiers.ts';
import type { RevisionRun, RunTable } from './run-table.ts';

/** What a worker is told of a run; everything else stands in the row. */
export interface RunJob {
  readonly accountId: Uuid;
  readonly environment: Environment;
  readonly runId: Uuid;
  /** The revision that the run makes. */
  readonly revision: number;
  /** How much longer than need be the run takes. */
  readonly delayMs: number;
  /** That the run will read, about. */
  readonly rows: number;
}

const runJob = z.object({
  accountId: uuid,
  environment: z.enum(ENVIRONMENTS),
  runId: uuid,
  revision: z.int().min(1).default(1),
  delayMs: z.int().min(0),
  rows: z.int().min(0).default(0),
});

/** A job that was enqueued before runs had a machinery of their own calls the run an attribution. */
const anyRunJob = z.preprocess(
  (data) => (data instanceof Object && 'attributionId' in data ? { runId: data.attributionId, ...data } : data),
  runJob,
);

/** Runs that somebody asks for and waits for. */
export function askedRuns({ name, manyRows }: Pick<RunTable, 'name' | 'manyRows'>): JobQueue<RunJob> {
  return {
    name: `${name}.run`,
    data: anyRunJob,
    // Of one account in one environment (decision table of the contract, rate limits).
    perShare: { running: 4, waiting: 16 },
    isLarge: ({ rows }) => rows > manyRows,
  };
}

/** Refreshes of completed runs: any number may wait, and none of them holds up what is asked for. */
export function refreshedRuns(runs: Pick<RunTable, 'name' | 'manyRows'>): JobQueue<RunJob> {
  return { ...askedRuns(runs), name: `${runs.name}.refresh`, perShare: { running: 1 } };
}

/** The attempt that a job stands for. */
export function runOf({ runId, accountId, environment, revision }: RunJob): RevisionRun {
  return { id: runId, accountId, environment, revision };
}
