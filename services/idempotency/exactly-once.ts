import type { z } from 'zod';
import { ProblemError } from '../../schema/problems.ts';
import type { IdempotencyClaim, RequestContext } from '../../schema/principal.ts';
import { diskFullProblem, isDiskFull } from '../../platform/disk-full.ts';
import type { Database, Question, SqlEntityManager } from '../../platform/postgres/database.ts';
import { opened, sealed } from './claim-secrets.ts';
import { idempotencyInProgress } from './idempotency-key.ts';
import { TAKEN_OVER } from './migrations.ts';

/**
 * Records the effect in the transaction that has it, as the last thing before it commits; null takes back what an
 * earlier transaction of this attempt recorded. Where another attempt has taken over, the transaction does not commit:
 * its end throws, and {@link exactlyOnce} ProblemError `idempotency_in_progress`.
 */
export type Settle<Effect> = (em: SqlEntityManager, effect: Effect | null) => Promise<void>;

/**
 * The same for a transaction whose statements travel together: its last one, or none where there is nothing to settle.
 */
export type Settlement<Effect> = (effect: Effect | null) => readonly Question[];

export interface Once<Effect, Result> {
  /** What is needed to tell the result again: ids, and secrets that are shown once. It is stored sealed. */
  readonly effect: z.ZodType<Effect>;
  /** False for what makes room, ends a right or lets somebody read: it goes on while the disk is nearly full. */
  readonly needsRoom?: false;
  /** Has the effect; the transaction that has it calls `settle`, or ends with the `settlement`. */
  act(settle: Settle<Effect>, settlement: Settlement<Effect>): Promise<Result>;
  /** Tells the result of an effect that an earlier attempt had, before it died. */
  recall(effect: Effect, settle: Settle<Effect>): Promise<Result>;
}

/**
 * Runs a mutation so that all requests with one idempotency key have its effect once. The effect and the record of it
 * commit together; an attempt that finds the record recalls the result instead of acting again. Without a key it just
 * acts. This is where every mutation and upload passes, whatever door it came through, and so where they are refused
 * while the disk is nearly full; what an earlier attempt has stored is told all the same.
 * @throws Error for an `act` that returned without settling: its effect could happen twice
 * @throws ProblemError `service_unavailable`, code `disk_nearly_full` or `disk_full`
 */
export async function exactlyOnce<Effect, Result>(
  database: Database,
  context: RequestContext,
  once: Once<Effect, Result>,
): Promise<Result> {
  if (once.needsRoom !== false && context.idempotency?.hasEffect !== true) database.refuseWithoutRoom();
  try {
    return await settled(database, context.idempotency, once);
  } catch (error) {
    throw isDiskFull(error) && !(error instanceof ProblemError) ? diskFullProblem(error) : error;
  }
}

async function settled<Effect, Result>(
  database: Database,
  claim: IdempotencyClaim | undefined,
  { effect, act, recall }: Once<Effect, Result>,
): Promise<Result> {
  if (claim === undefined)
    return act(
      () => Promise.resolve(),
      () => [],
    );
  let isSettled = false;
  const valuesOf = (settled: Effect | null) => {
    isSettled = true;
    return [idOf(claim), claim.attemptId, settled === null ? null : sealed(claim, 'effect', settled)];
  };
  const settle: Settle<Effect> = async (em, settled) =>
    database.closeWith(em, 'select idempotency.settle_or_raise(?, ?::uuid, ?)', valuesOf(settled));
  const settlement: Settlement<Effect> = (settled) => [
    {
      name: 'idempotency.settle_or_raise',
      text: 'select idempotency.settle_or_raise($1, $2, $3)',
      values: valuesOf(settled),
    },
  ];
  try {
    if (claim.hasEffect) return await recall(effect.parse(await recordedEffect(database, claim)), settle);
    const result = await act(settle, settlement);
    if (!isSettled) throw new Error('a mutation with an idempotency key ended without settling it');
    return result;
  } catch (error) {
    throw (error as { readonly code?: unknown } | null)?.code === TAKEN_OVER ? idempotencyInProgress() : error;
  }
}

/** @throws ProblemError `idempotency_in_progress` when the claim is another attempt's by now */
async function recordedEffect(database: Database, claim: IdempotencyClaim): Promise<unknown> {
  const [row] = await database.ask<{ effect: Buffer | null }>({
    name: 'idempotency.effect_of',
    text: 'select idempotency.effect_of($1, $2) as effect',
    values: [idOf(claim), claim.attemptId],
  });
  if (row!.effect === null) throw idempotencyInProgress();
  return opened(claim, 'effect', row!.effect);
}

function idOf(claim: IdempotencyClaim): Buffer {
  return Buffer.from(claim.id, 'base64url');
}
