import type { Failure, PathTotals } from '../../outcome.ts';
import { insufficientData } from '../../outcome.ts';
import type { CausalInput } from './causal-input.ts';
import { aligner } from './channel-alignment.ts';
import type { ChannelIdentification } from './channel-identification.ts';
import { withinIdentifiedSets } from './identified-set.ts';
import { creditByPlacebos, creditByPrior } from './incremental-credit.ts';
import type { CreditSetting, IncrementalCredit } from './incremental-credit.ts';
import type { MemberShares } from './stacking.ts';

/** What the rows alone lead to, before spend and experiments. */
export interface CreditOfRows {
  readonly ok: true;
  /** what the five models lead to */
  readonly modelled: IncrementalCredit;
  /** the same within what is identified */
  readonly bounded: IncrementalCredit;
}

/** Shares over all channels and over the paid ones, of the members that ran. */
export interface SharesByMember {
  readonly full: MemberShares;
  readonly paid: MemberShares;
}

/**
 * The members' credit with its intervals. A channel whose whole interval lies below 0 is credited with what PRAV
 * measures of it; any other that is measured below 0 with what it was before, which is not.
 */
export function creditOfRows(
  { channels, isBaseline, members, comparison, totals }: CausalInput,
  { full, paid }: SharesByMember,
  identification: readonly (ChannelIdentification | null)[],
  setting: CreditSetting,
): CreditOfRows | Failure {
  const { prav } = members;
  const unseenShare = totals.conversions > 0 ? comparison.unattributed.conversions / totals.conversions : 0;
  const bound = (modelled: IncrementalCredit): CreditOfRows => ({
    ok: true,
    modelled,
    bounded: withinIdentifiedSets(modelled, identification, channels, prav, unseenShare, setting),
  });
  if (!prav.ok) {
    const pathTotals: PathTotals | undefined = [members.markov, members.shapley, members.dominance, members.rwa].find(
      (member) => member.ok,
    )?.totals;
    if (pathTotals === undefined)
      return insufficientData(members.markov.ok ? 'No model could run.' : members.markov.message);
    return bound(creditByPrior(paid, full, pathTotals, members.markov, channels, prav.message, setting));
  }
  const align = aligner(channels, prav.channels);
  const signed = align(prav.signedRevenue);
  const isMeasuredBelow0 = (c: number): boolean =>
    isBaseline[c] !== 1 && signed[c]! < 0 && identification[c]?.status !== 'none';
  let harmful = new Set(channels.keys().filter(isMeasuredBelow0));
  for (;;) {
    const credit = bound(creditByPlacebos(prav, align, paid, harmful, setting));
    const surely = new Set([...harmful].filter((c) => credit.bounded.high[c]! < 0));
    if (surely.size === harmful.size) return credit;
    harmful = surely;
  }
}
