import type { TaskOutcome } from '../../../../compute/tasks.ts';
import type { StoredRows } from '../../intake/touchpoints/stored-rows.ts';
import { agrees, claimsOf, RESULT_CLAIM, type CheckedClaim } from './claims.ts';
import type { AnalysisFigures } from './figures.ts';

type Successful<Name extends 'evidence' | 'scrutiny'> = Extract<TaskOutcome<Name>, { readonly ok: true }>;

/** The second ways to the figures. */
export interface ClaimWitness {
  readonly stored: StoredRows;
  readonly journeys: Successful<'evidence'>['witness'];
  /** The source holds aggregated paths. */
  readonly isPaths: boolean;
  readonly secondCredit: Successful<'scrutiny'>['secondCredit'];
}

/**
 * Holds every claim against a second, independent way to the same figure. Spend, touches, conversions and revenue:
 * counted in the store. Last click: the other of SQL's journeys and the event walk than the one that made it (on a
 * source of paths: summed in the store). Attributed revenue: the model's own identity. Baseline and Delta_R: added up
 * again from these.
 */
export function verifyClaims(
  figures: AnalysisFigures,
  { stored, journeys, isPaths, secondCredit }: ClaimWitness,
): readonly CheckedClaim[] {
  const at = (channels: readonly string[], column: Float64Array): ReadonlyMap<string, number> =>
    new Map(channels.map((channel, c) => [channel, column[c]!]));
  const orders = isPaths ? stored.paths : stored.orders;
  const lastClick = isPaths ? stored.paths.revenueByLastStep : at(journeys.channels, journeys.lastClick);
  const credit = secondCredit === null ? null : at(secondCredit.channels, secondCredit.value);
  const credited = (channel: string): number => (credit === null ? Number.NaN : (credit.get(channel) ?? 0));
  const creditedSum = figures.channels.reduce((sum, { channel }) => sum + credited(channel), 0);
  const recovered = figures.channels.reduce((sum, { channel, isBaseline }) => {
    const [now, before] = [credited(channel), lastClick.get(channel) ?? 0];
    return isBaseline || now <= 0 ? sum : sum + Math.max(0, now - before);
  }, 0);
  const touches = isPaths ? stored.paths.touches : [...stored.touches.values()].reduce((sum, count) => sum + count, 0);
  const found = (name: string): { readonly value: number; readonly cents: number } => {
    const [kind, channel = ''] = split(name);
    switch (kind) {
      case 'spend':
        return { value: stored.spend.get(channel) ?? 0, cents: 0 };
      case 'touches':
        return { value: channel === '' ? touches : (stored.touches.get(channel) ?? 0), cents: 0 };
      case 'lastclick_revenue':
        return { value: lastClick.get(channel) ?? 0, cents: 1 };
      case 'attributed_revenue':
        return { value: credited(channel), cents: 1 };
      case 'conversions':
        return { value: orders.conversions, cents: 0 };
      case 'revenue':
        return { value: orders.revenue, cents: 1 };
      case 'unattributed_revenue':
        return { value: orders.revenue - journeys.attributedRevenue, cents: 1 };
      case 'baseline_revenue':
        return { value: orders.revenue - creditedSum, cents: 1 };
      // Each channel's two cents may have been moved.
      default:
        return { value: recovered, cents: 2 * figures.channels.length };
    }
  };
  const checked = claimsOf(figures).map((claim): CheckedClaim => {
    const { value, cents } = found(claim.name);
    return { ...claim, verified: agrees(claim.value, value, cents) };
  });
  return [...checked, { name: RESULT_CLAIM, value: 0, verified: true }];
}

/** `spend/a/b` is the spend of channel `a/b`. */
function split(name: string): readonly [kind: string, channel?: string] {
  const at = name.indexOf('/');
  return at < 0 ? [name] : [name.slice(0, at), name.slice(at + 1)];
}
