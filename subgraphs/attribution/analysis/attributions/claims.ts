import type { AnalysisFigures } from './figures.ts';

/** One figure of an answer that can be right or wrong. Money in major units. */
export interface Claim {
  /** Such as `spend/email`, or `revenue` for a total. */
  readonly name: string;
  readonly value: number;
}

/** A claim as it was stored with the run, and whether a second way led to the same figure. */
export interface CheckedClaim extends Claim {
  readonly verified: boolean;
}

/** Stands for every figure that is not a claim of its own: the stored result is the one that was computed. */
export const RESULT_CLAIM = 'result_digest';

const TOLERANCE = 1e-6;
/** What rounding to a sum may move in one figure. */
const CENT = 0.01 + 1e-9;

/** What an answer claims: each channel's spend, touches, last-click and attributed revenue, the totals, and Delta_R. */
export function claimsOf(figures: AnalysisFigures): readonly Claim[] {
  const prav = figures.diagnostics.models['prav'] as
    | { readonly touches?: Readonly<Record<string, number>> }
    | undefined;
  return [
    ...figures.channels.flatMap((channel): Claim[] => [
      { name: `spend/${channel.channel}`, value: channel.spend },
      { name: `lastclick_revenue/${channel.channel}`, value: channel.lastclickRevenueCents / 100 },
      { name: `attributed_revenue/${channel.channel}`, value: channel.attributedRevenueCents / 100 },
    ]),
    ...Object.entries(prav?.touches ?? {}).map(([channel, value]) => ({ name: `touches/${channel}`, value })),
    { name: 'conversions', value: figures.conversions },
    { name: 'revenue', value: figures.revenueCents / 100 },
    { name: 'touches', value: figures.diagnostics.touches },
    { name: 'unattributed_revenue', value: figures.unattributedRevenueCents / 100 },
    { name: 'baseline_revenue', value: figures.baselineRevenueCents / 100 },
    { name: 'delta_r', value: figures.deltaRCents / 100 },
  ];
}

/** Within 10⁻⁶, relative; money may also differ by the `cents` that rounding moved. */
export function agrees(claimed: number, found: number, cents = 0): boolean {
  const difference = Math.abs(claimed - found);
  return difference <= TOLERANCE * Math.abs(found) || difference <= cents * CENT;
}

/** How many of the stored claims the figures at hand still make, and how many were verified. */
export function recount(
  stored: readonly CheckedClaim[],
  figures: AnalysisFigures,
  isResultIntact: boolean,
): { readonly verified: number; readonly total: number } {
  const current = new Map(claimsOf(figures).map(({ name, value }) => [name, value]));
  const holds = ({ name, value, verified }: CheckedClaim): boolean => {
    if (!verified) return false;
    if (name === RESULT_CLAIM) return isResultIntact;
    const now = current.get(name);
    return now !== undefined && agrees(now, value);
  };
  return { verified: stored.filter(holds).length, total: stored.length };
}
