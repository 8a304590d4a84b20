import { twoSidedZ } from '../../numerics/normal-quantile.ts';
import type { Failure } from '../../outcome.ts';
import type { PravResult } from '../prav/prav-result.ts';
import { sumOf } from '../credits.ts';
import type { ChannelIdentification, IdentificationCode } from './channel-identification.ts';
import { aligner } from './channel-alignment.ts';
import type { CreditSetting, IncrementalCredit } from './incremental-credit.ts';

/**
 * Takes out what cannot be measured, and widens the intervals of what is known in part: to the set of effects that the
 * rows leave possible, and z standard errors beyond (Manski 2003). People who were chosen, or who had decided, may owe
 * nothing to the touch: the set reaches to 0. Where placebos contain effect, it reaches to the lift with nothing taken
 * off; where effects outlast the horizon, to what was observed; where orders have no visits on record, to what their
 * share would add.
 */
export function withinIdentifiedSets(
  credit: IncrementalCredit,
  identification: readonly (ChannelIdentification | null)[],
  names: readonly string[],
  prav: PravResult | Failure,
  unseenShare: number,
  { channels, confidenceLevel }: CreditSetting,
): IncrementalCredit {
  const measured = withoutUnmeasurable(credit, identification, channels);
  if (!prav.ok) return measured;
  const align = aligner(names, prav.channels);
  const [lift, error] = [align(prav.revenueOfLift), align(prav.standardError)];
  const z = twoSidedZ(confidenceLevel);
  const ends = identification.map((each, c): readonly [number, number] => {
    const value = measured.value[c]!;
    if (each?.status !== 'partial') return [measured.low[c]!, measured.high[c]!];
    const has = (code: IdentificationCode): boolean => each.reasons.some((reason) => reason.code === code);
    const mayBeNothing = has('reactive_targeting') || has('navigational_click');
    const low = Math.min(
      mayBeNothing ? 0 : value,
      value,
      has('horizon_exceeds_data') ? value / (prav.adStock?.beyond ?? 1) : value,
    );
    const high = Math.max(
      mayBeNothing ? 0 : value,
      value,
      has('placebo_contains_effect') ? lift[c]! : value,
      has('ids_split') ? value / (1 - Math.min(unseenShare, 0.5)) : value,
    );
    return [Math.min(measured.low[c]!, low - z * error[c]!), Math.max(measured.high[c]!, high + z * error[c]!)];
  });
  return {
    ...measured,
    low: Float64Array.from(ends, ([low]) => low),
    high: Float64Array.from(ends, ([, high]) => high),
  };
}

/** The credit with 0 for every channel of which nothing is known; the others keep theirs, and the total follows. */
function withoutUnmeasurable(
  credit: IncrementalCredit,
  identification: readonly (ChannelIdentification | null)[],
  channels: number,
): IncrementalCredit {
  if (!identification.some((each) => each?.status === 'none')) return credit;
  const kept = (rows: Float64Array): Float64Array =>
    rows.map((amount, i) => (identification[i % channels]?.status === 'none' ? 0 : amount));
  const [all, value] = [sumOf(credit.value), kept(credit.value)];
  return {
    ...credit,
    value,
    conversions: all > 0 ? Math.max(0, (credit.conversions * sumOf(value)) / all) : 0,
    low: kept(credit.low),
    high: kept(credit.high),
    replicates: kept(credit.replicates),
    ends: credit.ends.map(kept),
  };
}
