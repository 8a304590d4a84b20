import { COMMISSION_MONTHS } from '../../../schema/commission-months.ts';
import type { COMMISSION_TYPES, Tier } from '../../../schema/value-lists.ts';
import type { TierTable } from '../../../services/identity/limits/tiers.ts';
import type { Uuid } from '../../../platform/identifiers.ts';

export type CommissionType = (typeof COMMISSION_TYPES)[number];

/** `linear_after_6` is the contract's variant of listing A; `none` is listing A itself (§2, program constants). */
export const COMMISSION_DECAYS = ['none', 'linear_after_6'] as const;
export type CommissionDecay = (typeof COMMISSION_DECAYS)[number];

/** Commissions of referrals wait so long before they can be paid: the clawback window (contract §2). */
export const CLAWBACK_DAYS = 90;
/** 20 % of the fees of brands that an agent serves (contract §1). In hundredths of a percent, as all rates here. */
const BRAND_SERVING_RATE = 2_000n;

type ReferralRates = readonly [l1: bigint, l2: bigint];

/** Shares of the fees of referred agents, by the tier of the referrer (contract §2, listing A and variant B). */
const REFERRAL_RATES: Readonly<Record<TierTable, Readonly<Partial<Record<Tier, ReferralRates>>>>> = {
  three: { discovery: [1_000n, 200n], partner: [1_200n, 300n], ambassador: [1_500n, 500n] },
  four: { discovery: [1_000n, 200n], builder: [1_000n, 300n], partner: [1_200n, 500n], enterprise: [1_500n, 700n] },
};

/** Whoever may earn on a fee: the serving agent itself (`chainDepth` 0), and those whose active referral it is. */
export interface Earner {
  readonly accountId: Uuid;
  readonly agentId: Uuid;
  readonly chainDepth: 0 | 1 | 2;
  readonly tier: Tier;
  /** Whole months since the referral became active; 0 for the serving agent. */
  readonly monthsActive: number;
}

export interface EarnedCommission {
  readonly earner: Earner;
  readonly type: 'brand_serving' | 'l1_referral' | 'l2_referral';
  readonly amountCents: bigint;
  /** In hundredths of a percent: 1,000 is 10 %. */
  readonly rate: bigint;
  /** Days until it can be paid. */
  readonly waitsDays: number;
}

export interface CommissionTerms {
  readonly tierTable: TierTable;
  readonly decay: CommissionDecay;
}

/**
 * What a fee earns whom: `round_half_up(fee × rate)` each. The serving agent where the fee is not that of its own
 * account, its referrer and the referrer of that one during twelve months (contract §1, §2; decisions §7).
 * @param payer the account that is charged
 */
export function commissionsOn(
  feeCents: bigint,
  payer: Uuid,
  earners: readonly Earner[],
  terms: CommissionTerms,
): EarnedCommission[] {
  return earners.flatMap((earner): EarnedCommission[] => {
    const { chainDepth, accountId, monthsActive } = earner;
    if (chainDepth === 0 ? accountId === payer : monthsActive >= COMMISSION_MONTHS) return [];
    const rate = rateOf(earner, terms);
    const amountCents = (feeCents * rate + 5_000n) / 10_000n;
    if (amountCents === 0n) return [];
    const type = (['brand_serving', 'l1_referral', 'l2_referral'] as const)[chainDepth];
    return [{ earner, type, amountCents, rate, waitsDays: chainDepth === 0 ? 0 : CLAWBACK_DAYS }];
  });
}

function rateOf({ chainDepth, tier, monthsActive }: Earner, { tierTable, decay }: CommissionTerms): bigint {
  if (chainDepth === 0) return BRAND_SERVING_RATE;
  const rates = REFERRAL_RATES[tierTable];
  // A tier of the other table: whoever has it is at the beginning until its next referral.
  const rate = (rates[tier] ?? rates.discovery!)[chainDepth - 1]!;
  return decay === 'none' ? rate : decayed(rate, monthsActive);
}

/** The whole rate in the first six months, then 6/7 of it, 5/7 and so on: 1/7 in the twelfth. */
function decayed(rate: bigint, monthsActive: number): bigint {
  if (monthsActive < 6) return rate;
  const sevenths = BigInt(COMMISSION_MONTHS - monthsActive);
  return (2n * rate * sevenths + 7n) / 14n;
}
