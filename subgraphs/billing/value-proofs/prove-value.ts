import { toRest } from '../../../schema/contract/rest-form.ts';
import { valueProof } from '../../../schema/contract/value-proofs.ts';
import type { Json } from '../../../schema/rest-shape.ts';
import type { Environment } from '../../../schema/principal.ts';
import { newUuid, publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { planIn } from '../../../services/identity/accounts/account-store.ts';
import type { EventConsumer } from '../../../services/events/relay.ts';
import { signReceipt } from '../../../services/trust/signed-receipt.ts';
import type { SigningKeyStore } from '../../../services/trust/signing-key-store.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { sandboxFee } from '../fees/fee.ts';
import { USUAL_CURRENCY } from '../ledger/ledger.ts';
import { finishedAnalysis, type FinishedAnalysis } from '../fees/finished-analysis.ts';

interface Cost {
  readonly feeCents: number;
  readonly repeats: Uuid | null;
  /** When it was charged. */
  readonly at: Date;
}

/**
 * Makes the receipt of each completed analysis, in the transaction that charges it, behind the charge. It is signed by
 * the key of its environment, for `issuer`, the address of the service without `/v1`.
 */
export function proveValue(keys: Pick<SigningKeyStore, 'current'>, issuer: string): EventConsumer {
  return async (em, event) => {
    const analysis = finishedAnalysis(event);
    if (analysis === null) return;
    const { environment } = event;
    const { revenueCausalCents, revenueLastclickCents } = analysis;
    // An event of a release before there were receipts.
    if (revenueCausalCents === null || revenueLastclickCents === null) return;
    const cost = environment === 'live' ? await chargeOf(em, analysis) : await costInSandbox(em, analysis);
    const createdAt = cost.at;
    const id = newUuid(createdAt.getTime());
    const proof = toRest(receiptShape, {
      receiptId: publicId('rcpt', id),
      analysisId: publicId('attr', analysis.id),
      revenueLastclickCents,
      revenueCausalCents,
      deltaRCents: Number(analysis.deltaRCents),
      platformFeeCents: cost.feeCents,
      billed: environment === 'live' && cost.feeCents > 0,
      repeats: cost.repeats === null ? null : publicId('attr', cost.repeats),
      currency: analysis.currency ?? USUAL_CURRENCY,
      createdAt,
    }) as Json;
    const receipt = await signReceipt(proof, issuer, await keys.current(em, environment));
    await keep(em, analysis, { id, environment, receipt, createdAt });
  };
}

const receiptShape = valueProof.omit({ signedReceipt: true });

async function chargeOf(em: SqlEntityManager, { id }: FinishedAnalysis): Promise<Cost> {
  const [row] = await em.execute<{ fee: string; repeats: Uuid | null; at: string }[]>(
    `select fee_cents as fee, repeats, to_jsonb(charged_at) #>> '{}' as at from billing.charges where analysis_id = ?`,
    [id],
  );
  if (row === undefined) throw new Error(`the analysis ${id} has a receipt to come, and was not charged`);
  return { feeCents: Number(row.fee), repeats: row.repeats, at: new Date(row.at) };
}

async function costInSandbox(em: SqlEntityManager, { accountId, deltaRCents }: FinishedAnalysis): Promise<Cost> {
  const { platformFeeCents } = sandboxFee(await planIn(em, accountId), deltaRCents);
  return { feeCents: platformFeeCents ?? 0, repeats: null, at: await chargingNow(em) };
}

/** One that is there already stays. */
async function keep(
  em: SqlEntityManager,
  { id: analysisId, accountId, workspaceId }: FinishedAnalysis,
  proof: { readonly id: Uuid; readonly environment: Environment; readonly receipt: string; readonly createdAt: Date },
): Promise<void> {
  await em.execute(
    `insert into billing.value_proofs (id, analysis_id, account_id, workspace_id, environment, signed_receipt,
       created_at) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    [proof.id, analysisId, accountId, workspaceId, proof.environment, proof.receipt, proof.createdAt.toISOString()],
  );
}
