import { p } from '@mikro-orm/core';
import type { z } from 'zod';
import type { attributionFailure } from '../../../schema/contract/attribution-result.ts';
import type { Frozen } from '../../../schema/contract/frozen.ts';
import type { Environment } from '../../../schema/principal.ts';
import type { ATTRIBUTION_STATUSES } from '../../../schema/value-lists.ts';
import type { Uuid } from '../../../platform/identifiers.ts';

export type RunStatus = (typeof ATTRIBUTION_STATUSES)[number];

/** Why a run failed, in words that a shop owner can act on. */
export type RunFailure = Frozen<z.output<typeof attributionFailure>>;

/**
 * What every kind of run has in its row, beside what was asked of it. `Result` is what a completed run found; it stays
 * through a refresh.
 */
export interface Run<Result = unknown> {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly environment: Environment;
  status: RunStatus;
  /** Of the result: 1 for the first, one more for each refresh. */
  revision: number;
  result?: Result | null | undefined;
  failure?: RunFailure | null | undefined;
  completedAt?: Date | null | undefined;
}

/** The same, as MikroORM reads it: part of the entity of every kind. */
export function runColumns<Result>() {
  return {
    id: p.uuid().$type<Uuid>().primary(),
    accountId: p.uuid().$type<Uuid>(),
    environment: p.text().$type<Environment>(),
    status: p.text().$type<RunStatus>(),
    revision: p.integer().default(1),
    result: p.json().$type<Result>().nullable(),
    failure: p.json().$type<RunFailure>().nullable(),
    createdAt: p.datetime(3),
    completedAt: p.datetime(3).nullable(),
    deletedAt: p.datetime(3).nullable(),
  };
}

/*
 * The life of a run: pending → processing → completed | failed, and pending → failed. A job that is taken over from a
 * dead worker starts `processing` again. Nothing leaves `failed`, and only a refresh leaves `completed`, to return to
 * it: meanwhile the result of the last revision stays.
 */

/** True while nothing is happening to this run, and nothing is going to unless it is refreshed. */
export function isFinished({ status }: Pick<Run, 'status'>): boolean {
  return status === 'completed' || status === 'failed';
}

/** True while a completed run is run again. */
export function isRefreshing({ status, result }: Pick<Run, 'status' | 'result'>): boolean {
  return status === 'processing' && result != null;
}

/** The revision that is being made; null while there is none. Tells the attempts of one run apart. */
export function revisionUnderWay(run: Run): number | null {
  if (isFinished(run)) return null;
  return run.result == null ? 1 : run.revision + 1;
}

/** A worker took the job, for the first time or from a worker that died. */
export function begin(run: Run): void {
  assertOpen(run, 'begin');
  run.status = 'processing';
}

/** The result is there: of the first revision, or of the next one. */
export function complete<Result>(run: Run<Result>, result: Result, now: Date): void {
  assertOpen(run, 'complete');
  if (run.result != null) run.revision += 1;
  run.status = 'completed';
  run.result = result;
  run.completedAt = now;
}

/** A completed run is run again. */
export function refresh(run: Run): void {
  if (run.status !== 'completed') throw new Error(`cannot refresh run ${run.id}: it is ${run.status}`);
  run.status = 'processing';
}

/** The refresh came to nothing: the last revision stays. */
export function keepRevision(run: Run): void {
  if (!isRefreshing(run)) throw new Error(`cannot keep the revision of run ${run.id}: it is ${run.status}`);
  run.status = 'completed';
}

/** The run ended without a result. */
export function fail(run: Run, failure: RunFailure, now: Date): void {
  assertOpen(run, 'fail');
  if (isRefreshing(run)) throw new Error(`cannot fail run ${run.id}: it has a result`);
  run.status = 'failed';
  run.failure = failure;
  run.completedAt = now;
}

function assertOpen(run: Run, step: string): void {
  if (isFinished(run)) throw new Error(`cannot ${step} run ${run.id}: it is ${run.status}`);
}
