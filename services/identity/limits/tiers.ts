import type { Tier } from '../../../schema/value-lists.ts';

/** `three` is listing A of the contract, §2 "Agent tiers"; `four` its variant B. */
export const TIER_TABLES = ['three', 'four'] as const;
export type TierTable = (typeof TIER_TABLES)[number];

/** The lowest number of active referrals that makes a tier. */
interface Rung {
  readonly tier: Tier;
  readonly activeReferrals: number;
}

/** From the lowest tier up; the first takes everybody. */
const LADDERS: Readonly<Record<TierTable, readonly [Rung, ...Rung[]]>> = {
  three: [
    { tier: 'discovery', activeReferrals: 0 },
    { tier: 'partner', activeReferrals: 5 },
    { tier: 'ambassador', activeReferrals: 20 },
  ],
  four: [
    { tier: 'discovery', activeReferrals: 0 },
    { tier: 'builder', activeReferrals: 3 },
    { tier: 'partner', activeReferrals: 10 },
    { tier: 'enterprise', activeReferrals: 50 },
  ],
};

/** The tier of an agent with so many active referrals. */
export function tierOf(table: TierTable, activeReferrals: number): Tier {
  return (LADDERS[table].findLast((rung) => activeReferrals >= rung.activeReferrals) ?? LADDERS[table][0]).tier;
}

/** The tier above, and how many more active referrals it takes; null at the top. */
export function nextTier(
  table: TierTable,
  activeReferrals: number,
): { readonly name: Tier; readonly referralsNeeded: number } | null {
  const next = LADDERS[table].find((rung) => rung.activeReferrals > activeReferrals);
  return next === undefined ? null : { name: next.tier, referralsNeeded: next.activeReferrals - activeReferrals };
}
