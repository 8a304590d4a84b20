import { throughOutages } from '../../../platform/jobs/through-outages.ts';
import type { Job, Jobs } from '../../../platform/jobs/jobs.ts';
import { publicId } from '../../../platform/identifiers.ts';
import { wholeAccount } from '../../../platform/postgres/database.ts';
import type { Logger } from '../../../platform/telemetry/logs.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { watchCancellation } from './cancel-run.ts';
import { completeRun, failRun, type EndingServices } from './end-run.ts';
import { ProgressWriter } from './progress-writer.ts';
import { RunFailedError } from './run-failed-error.ts';
import type { RunKind } from './run-kind.ts';
import type { PartialResult, RunEvent, StageEvent } from './run-progress.ts';
import { askedRuns, refreshedRuns, runOf, type RunJob } from './run-queues.ts';
import { lockRun } from './run-table.ts';
import { begin, revisionUnderWay, type Run } from './run.ts';

export interface WorkServices extends EndingServices {
  readonly logger: Logger;
}

/** Takes runs of a kind from its queues, so many of each at a time in this process. */
export async function workOnRuns<Row extends Run, Input, Found, Partial extends PartialResult>(
  services: WorkServices & { readonly jobs: Jobs },
  kind: RunKind<Row, Input, Found, Partial>,
  concurrency: { readonly asked: number; readonly refreshed: number },
): Promise<void> {
  const onExhausted = (run: RunJob, error: Error) => failExhausted(services, kind, run, error);
  const work = (job: Job<RunJob>) => workOnRun(services, kind, job);
  await services.jobs.work(askedRuns(kind), { concurrency: concurrency.asked, onExhausted }, work);
  await services.jobs.work(refreshedRuns(kind), { concurrency: concurrency.refreshed, onExhausted }, work);
}

/**
 * Does the work of one accepted run, or of its refresh. Safe to do again after a worker died half-way: a run that is
 * over already is left alone. Stops soon after the run is cancelled.
 */
export async function workOnRun<Row extends Run, Input, Found, Partial extends PartialResult>(
  services: WorkServices,
  kind: RunKind<Row, Input, Found, Partial>,
  job: Job<RunJob>,
): Promise<void> {
  const run = runOf(job.data);
  const cancellation = watchCancellation(services, kind, run);
  const progress = new ProgressWriter(services, kind, run);
  try {
    const begun = await throughOutages(job.signal, () => beginRun(services, kind, job.data));
    if (begun === null) return;
    const signal = AbortSignal.any([job.signal, cancellation.signal]);
    const begunMs = services.clock().getTime();
    const tell = (event: RunEvent<Partial>): void =>
      progress.push(withEta(event, services.clock().getTime() - begunMs));
    const found = await kind.compute({ ...job, signal }, begun.row, begun.input, tell);
    tell({ kind: 'PROGRESS', stage: 'signing', progress: 0.98, message: 'Signing the result' });
    await progress.drain();
    await throughOutages(job.signal, () => completeRun(services, kind, run, found));
  } catch (error) {
    // What is still being written would take the numbers of the events that follow, of another attempt or of the
    // failure.
    await progress.drain();
    // Whoever cancelled has closed the row.
    if (cancellation.signal.aborted) return;
    // This attempt lost its worker or its claim to the job, and another attempt follows.
    if (!(error instanceof RunFailedError) || error.failure.code === 'cancelled') throw error;
    await throughOutages(job.signal, () => failRun(services, kind, run, error.failure));
  } finally {
    await cancellation.stop();
  }
}

/** Below it, what has been done says too little of what is left. */
const LEAST_PROGRESS_OF_A_PACE = 0.1;

/** What is left will take as long for its share as what is done took for its own. */
function withEta<Partial extends PartialResult>(event: RunEvent<Partial>, elapsedMs: number): RunEvent<Partial> {
  if (event.kind !== 'PROGRESS') return event;
  const { progress } = event as StageEvent;
  if (progress < LEAST_PROGRESS_OF_A_PACE) return event;
  return { ...event, etaS: Math.ceil((elapsedMs * (1 - progress)) / progress / 1000) };
}

/** The row and what the computation needs; null for a run that is over, or another revision by now. */
async function beginRun<Row extends Run, Input, Found, Partial extends PartialResult>(
  { database, clock }: EndingServices,
  kind: RunKind<Row, Input, Found, Partial>,
  job: RunJob,
): Promise<{ readonly row: Row; readonly input: Input } | null> {
  return database.asTenant(wholeAccount(job), async (em) => {
    const row = await lockRun(em, kind, job.runId);
    if (row === null || revisionUnderWay(row) !== job.revision) return null;
    begin(row);
    const input = await kind.load(em, row, clock());
    await em.flush();
    return { row, input };
  });
}

/** Ends a run whose job has failed in every attempt. */
async function failExhausted<Row extends Run, Input, Found, Partial extends PartialResult>(
  services: WorkServices,
  kind: RunKind<Row, Input, Found, Partial>,
  job: RunJob,
  error: Error,
): Promise<void> {
  services.logger.error(
    { err: error, [kind.name]: publicId(kind.prefix, job.runId), revision: job.revision },
    `a run of the kind ${kind.name} failed in every attempt`,
  );
  // What a caller may see is written for one.
  const cause =
    error.name === ProblemError.name
      ? `. ${error.message} It is not billed.`
      : ' because of an error on our side. It is not billed; the log names the cause.';
  await failRun(services, kind, runOf(job), {
    code: 'internal',
    message: `The ${kind.noun} failed three times${cause}`,
  });
}
