import type { Environment } from '../../../schema/principal.ts';
import type { ShownFee } from '../../../schema/platform-fee.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { planIn } from '../../../services/identity/accounts/account-store.ts';
import { post, USUAL_CURRENCY, type Transfer } from '../ledger/ledger.ts';
import { feeOn, sandboxFee, shownFee } from './fee.ts';

/** A completed analysis, as far as its fee goes. */
export interface ChargeableAnalysis {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly deltaRCents: bigint;
  /** Equal ones are repetitions; null where it was not measured. */
  readonly inputDigest: string | null;
}

/** What a charge says besides. */
export interface ChargeDetails {
  readonly workspaceId: Uuid | null;
  /** The agent that served the analysis. */
  readonly agentId: Uuid | null;
  /** ISO 4217; null where the event is of a release that did not tell it. */
  readonly currency: string | null;
  /** The model that was asked for; null likewise. */
  readonly model: string | null;
}

/**
 * Charges a completed live analysis by the plan that its account is on now; `em` acts for the whole account. One that
 * was charged is left alone, and one that repeats another costs nothing and names it.
 */
export async function charge(
  em: SqlEntityManager,
  { id, accountId, deltaRCents, inputDigest }: ChargeableAnalysis,
  { workspaceId, agentId, currency, model }: ChargeDetails,
): Promise<void> {
  const plan = await planIn(em, accountId);
  const fee = feeOn(plan, deltaRCents);
  const said = [id, accountId, workspaceId, agentId, plan, currency, model, String(deltaRCents)];
  const columns =
    'analysis_id, account_id, workspace_id, agent_id, plan, currency, model, delta_r_cents, fee_cents, input_digest';
  const charged = await em.execute<object[]>(
    `insert into billing.charges (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do nothing returning analysis_id`,
    [...said, String(fee), inputDigest],
  );
  if (charged.length > 0) {
    if (fee > 0n) await post(em, accountId, feeTransfer(id, fee, currency));
    return;
  }
  // Another statement, so that it sees what a transaction has committed that this one had to wait for.
  await em.execute(
    `insert into billing.charges (${columns}, repeats)
     select ?::uuid, ?::uuid, ?::uuid, ?::uuid, ?, ?, ?, ?::bigint, 0, ?, first.analysis_id from billing.charges first
     where first.account_id = ? and first.input_digest = ? and first.repeats is null
     on conflict do nothing`,
    [...said, inputDigest, accountId, inputDigest],
  );
}

/** Whether an analysis was charged as the repetition of another one; `em` acts for the whole account. */
export async function isRepetition(em: SqlEntityManager, analysisId: Uuid): Promise<boolean> {
  const rows = await em.execute<object[]>(`select from billing.charges where analysis_id = ? and repeats is not null`, [
    analysisId,
  ]);
  return rows.length > 0;
}

/** A fee as the ledger knows it: its account owes it. */
const feeTransfer = (analysisId: Uuid, feeCents: bigint, currency: string | null): Transfer => ({
  key: `fee:${analysisId}`,
  debit: 'receivable',
  credit: 'fees',
  amountCents: feeCents,
  currency: currency ?? USUAL_CURRENCY,
});

/**
 * What an analysis is going to be charged, for the transaction that completes it; `em` acts for the whole account. Once
 * it was charged: what it was. The plan may still change, and an equal analysis come first, before it is charged.
 */
export async function feeAhead(
  em: SqlEntityManager,
  { id, accountId, environment, deltaRCents, inputDigest }: ChargeableAnalysis & { readonly environment: Environment },
): Promise<ShownFee> {
  const plan = await planIn(em, accountId);
  if (environment === 'sandbox') return sandboxFee(plan, deltaRCents);
  const [known] = await em.execute<{ fee: string }[]>(
    `select case when analysis_id = ? then fee_cents else 0 end as fee from billing.charges
     where analysis_id = ? or account_id = ? and input_digest = ? and repeats is null
     order by analysis_id = ? desc limit 1`,
    [id, id, accountId, inputDigest, id],
  );
  return shownFee(known === undefined ? feeOn(plan, deltaRCents) : BigInt(known.fee));
}
