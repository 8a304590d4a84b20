import type { Job } from '../../../platform/jobs/jobs.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { CompletedRuns } from './end-run.ts';
import type { PartialResult, RunEvent } from './run-progress.ts';
import type { RunJob } from './run-queues.ts';
import type { Run } from './run.ts';

/**
 * A kind of run. All that is special about it stands here; accepting, queueing, progress, cancelling, taking over from
 * a dead worker, ending and refreshing are those of every run.
 * @template Input What is read for a run before its computation begins
 * @template Found What its computation finds
 * @template Partial What it shows of that before the end
 */
export interface RunKind<Row extends Run, Input, Found, Partial extends PartialResult = never> extends CompletedRuns<
  Row,
  Found
> {
  /**
   * Reads what a run needs to know, in the transaction in which a worker takes it; `row` is locked, and `at` is now.
   * @throws RunFailedError where there is nothing to compute any more
   */
  load(em: SqlEntityManager, row: Row, at: Date): Promise<Input>;
  /**
   * The work, outside of any transaction. It is done again after a worker that died half-way, and has to find the same.
   * @throws RunFailedError where another attempt would meet the same
   */
  compute(job: Job<RunJob>, row: Row, input: Input, tell: (event: RunEvent<Partial>) => void): Promise<Found>;
}
