import { platformFeeCents, type ShownFee } from '../../../schema/platform-fee.ts';
import { planNamed, type PlanId } from '../plans/plan.ts';

/** What an analysis costs on a plan that has not charged the same one before. In cents of the source's currency. */
export function feeOn(planId: PlanId, deltaRCents: bigint): bigint {
  return planNamed(planId).perAnalysisFee === null ? 0n : platformFeeCents(deltaRCents);
}

/** A fee as it is shown for a live analysis: whatever costs nothing says that it is not billed. */
export function shownFee(feeCents: bigint): ShownFee {
  return { platformFeeCents: Number(feeCents), billed: feeCents === 0n ? false : null };
}

/** The fee of an analysis of the sandbox: what a live one would cost on the plan of the account. Never billed. */
export function sandboxFee(planId: PlanId, deltaRCents: bigint): ShownFee {
  return { platformFeeCents: Number(feeOn(planId, deltaRCents)), billed: false };
}
