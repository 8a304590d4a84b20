import { largestRemainder, toCents } from '../../../../compute/numerics/largest-remainder.ts';
import { creditConfidence } from '../../../../compute/outcome.ts';
import type { TaskOutcome } from '../../../../compute/tasks.ts';
import type { AttributionModel } from './attribution.ts';
import { isUnmeasurable } from './figures.ts';
import type { AnalysisFigures, ChannelFigures, ComparisonRule } from './figures.ts';

/** The outcomes of one run, by model; `comparison` always succeeds where the models do. */
export interface ModelOutcomes {
  readonly markov: TaskOutcome<'markov'>;
  readonly shapley: TaskOutcome<'shapley'>;
  readonly dominance: TaskOutcome<'dominance'>;
  readonly rwa: TaskOutcome<'rwa'>;
  readonly prav: TaskOutcome<'prav'>;
  readonly causal: TaskOutcome<'causal'>;
}

export type Successful<Model extends AttributionModel> = Extract<ModelOutcomes[Model], { readonly ok: true }>;

/** What the rows of the run amount to, before any model. Money in major units. */
export interface RunTotals {
  readonly channels: readonly string[];
  readonly isBaseline: Uint8Array;
  readonly conversions: number;
  readonly revenue: number;
  readonly unattributedRevenue: number;
  readonly spend: ReadonlyMap<string, number>;
  readonly comparison: Extract<TaskOutcome<'comparison'>, { readonly ok: true }>;
  readonly confidenceLevel: number;
}

export type Credit = Pick<AnalysisFigures, 'channels' | 'baselineRevenueCents' | 'revenueCents' | 'confidence'>;

/**
 * Turns one model's outcome into the channel figures that are published: cents by largest remainder, so that the
 * channels and the baseline sum to the revenue of the run exactly. `confidence` needs the outcomes of all models:
 * without them it is null. A baseline channel is credited nothing by PRAV and the causal model, by definition and so
 * without doubt.
 */
export function creditOf(
  model: AttributionModel,
  outcome: Successful<AttributionModel>,
  totals: RunTotals,
  outcomes: ModelOutcomes | null,
): Credit {
  if (outcome.model !== model) throw new Error(`asked for ${model}, was given the outcome of ${outcome.model}`);
  const adjusted = outcome.model === 'causal' || outcome.model === 'prav';
  const confidence = outcomes === null ? null : confidenceOf(outcome, totals, outcomes);
  const revenueCents = toCents(totals.revenue);
  const place = placesOf(outcome.channels);
  const of = (column: Float64Array, channel: string): number => valueAt(column, place.get(channel));
  const amounts = Float64Array.from([
    ...totals.channels.map((channel) => 100 * of(outcome.value, channel)),
    100 * baselineRevenueOf(outcome, totals),
  ]);
  const cents = largestRemainder(amounts, revenueCents);
  // Models of association divide conversions and revenue by regressions of their own: here the share is that of credit.
  const credited = outcome.value.reduce((sum, part) => sum + part, 0);
  const lastClickCents = ruleCents(totals, 'last', totals.channels);
  const channels = totals.channels.map((channel, index): ChannelFigures => ({
    channel,
    isBaseline: totals.isBaseline[index] === 1,
    spend: totals.spend.get(channel) ?? 0,
    attributedRevenueCents: cents[index]!,
    lastclickRevenueCents: lastClickCents[index]!,
    conversions: of(outcome.conversions, channel),
    share: credited > 0 ? of(outcome.value, channel) / credited : of(outcome.share, channel),
    confidence: confidence?.[index] ?? null,
    ...(outcome.model === 'causal' && { identification: outcome.identification[index] ?? null }),
    confidenceInterval:
      outcome.model === 'causal' && outcome.identification[index]?.status === 'none'
        ? null
        : adjusted && totals.isBaseline[index] === 1
          ? { lower: 0, upper: 0, level: totals.confidenceLevel }
          : // The cent that rounding moved to the channel stays inside.
            {
              lower: Math.min(of(outcome.intervalLow, channel), cents[index]! / 100),
              upper: Math.max(of(outcome.intervalHigh, channel), cents[index]! / 100),
              level: totals.confidenceLevel,
            },
  }));
  return {
    channels,
    revenueCents,
    baselineRevenueCents: cents[totals.channels.length]!,
    confidence:
      confidence === null
        ? null
        : outcome.model === 'causal'
          ? outcome.overallConfidence
          : weightedMean(confidence, channels),
  };
}

function baselineRevenueOf(outcome: Successful<AttributionModel>, totals: RunTotals): number {
  if (outcome.model === 'causal') return outcome.baselineRevenue;
  if (outcome.model === 'prav') return totals.revenue - outcome.total;
  // A path model divides everything that has a path among all channels; only what has none is left to the baseline.
  return totals.unattributedRevenue;
}

/** Confidence per channel of the run: the causal model brings its own, the others by the same formula. */
function confidenceOf(outcome: Successful<AttributionModel>, totals: RunTotals, outcomes: ModelOutcomes): Float64Array {
  const { channels, isBaseline } = totals;
  const place = placesOf(outcome.channels);
  const of = (column: Float64Array, channel: string): number => valueAt(column, place.get(channel));
  const credited = outcome.value.reduce((sum, amount) => sum + amount, 0);
  const witnesses = [outcomes.markov, outcomes.shapley, outcomes.prav].flatMap((witness) =>
    witness.ok ? [witnessOf(witness, totals)] : [],
  );
  return Float64Array.from(channels, (channel, index) => {
    if (isBaseline[index] === 1 && (outcome.model === 'causal' || outcome.model === 'prav')) return 1;
    if (outcome.model === 'causal') return of(outcome.confidence, channel);
    const shares = witnesses.flatMap((witness) => witness(index) ?? []);
    return creditConfidence(of(outcome.intervalHigh, channel) - of(outcome.intervalLow, channel), credited, shares);
  });
}

/**
 * What a model says of a channel's share: among the paid channels for a paid one, so that all three can be compared;
 * among all for a baseline channel, of which PRAV says nothing.
 */
function witnessOf(
  outcome: Successful<'markov' | 'shapley' | 'prav'>,
  { channels, isBaseline }: RunTotals,
): (index: number) => number | undefined {
  const place = placesOf(outcome.channels);
  const share = channels.map((channel) => valueAt(outcome.share, place.get(channel)));
  const paid = share.reduce((sum, part, index) => (isBaseline[index] === 1 ? sum : sum + part), 0);
  return (index) =>
    isBaseline[index] === 1
      ? outcome.model === 'prav'
        ? undefined
        : share[index]
      : paid > 0
        ? share[index]! / paid
        : undefined;
}

/** Mean of the channels' confidence, weighted by what they are credited with; of all alike where nothing is. */
function weightedMean(confidence: Float64Array, channels: readonly ChannelFigures[]): number {
  const weights = channels.map(({ attributedRevenueCents }) => Math.max(0, attributedRevenueCents));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return all === 0 ? 0 : weights.reduce((sum, weight, index) => sum + weight * confidence[index]!, 0) / all;
}

/**
 * Recovered revenue: over the paid channels that earned something and that last click under-credits, what the model
 * attributes and what last click did; their difference is what last click hid. `deltaRNetCents` is the signed sum over
 * all paid channels. Channels that cannot be measured are in none of them.
 */
export function recoveredRevenue(
  channels: readonly ChannelFigures[],
): Pick<AnalysisFigures, 'revenueCausalCents' | 'revenueLastclickCents' | 'deltaRCents' | 'deltaRNetCents'> {
  const paid = channels.filter((channel) => !channel.isBaseline && !isUnmeasurable(channel));
  const underCredited = paid.filter(
    (channel) => channel.attributedRevenueCents > Math.max(0, channel.lastclickRevenueCents),
  );
  const sum = (of: readonly ChannelFigures[], cents: (channel: ChannelFigures) => number) =>
    of.reduce((total, channel) => total + cents(channel), 0);
  const revenueCausalCents = sum(underCredited, (channel) => channel.attributedRevenueCents);
  const revenueLastclickCents = sum(underCredited, (channel) => channel.lastclickRevenueCents);
  return {
    revenueCausalCents,
    revenueLastclickCents,
    deltaRCents: revenueCausalCents - revenueLastclickCents,
    deltaRNetCents: sum(paid, (channel) => channel.attributedRevenueCents - channel.lastclickRevenueCents),
  };
}

const RULE_NAMES = {
  last: 'last_click',
  first: 'first_click',
  linear: 'linear',
  timeDecay: 'time_decay',
  position: 'position_based',
} as const satisfies Record<string, ComparisonRule>;

/**
 * Revenue per channel by each comparison rule, major units; each rule and the unattributed revenue sum to the revenue
 * of the run to the cent.
 */
export function comparisonOf(totals: RunTotals): AnalysisFigures['comparison'] {
  const { channels } = totals.comparison;
  const entries = Object.entries(RULE_NAMES).map(([rule, name]) => {
    const cents = ruleCents(totals, rule as keyof typeof RULE_NAMES, channels);
    return [name, Object.fromEntries(channels.map((channel, index) => [channel, cents[index]! / 100]))];
  });
  return Object.fromEntries(entries) as AnalysisFigures['comparison'];
}

/** Share per channel of every model that could run. */
export function modelBreakdownOf(outcomes: ModelOutcomes): AnalysisFigures['modelBreakdown'] {
  const members = (['markov', 'shapley', 'dominance', 'rwa', 'prav'] as const).flatMap((model) => {
    const outcome = outcomes[model];
    return outcome.ok
      ? [
          [
            model,
            Object.fromEntries(outcome.channels.map((channel, index) => [channel, outcome.share[index]!])),
          ] as const,
        ]
      : [];
  });
  return Object.fromEntries(members);
}

/**
 * What a comparison rule gives each of `channels`, in cents: they share what is not the revenue of conversions without
 * a touch.
 */
function ruleCents(totals: RunTotals, rule: keyof typeof RULE_NAMES, channels: readonly string[]): Float64Array {
  const { rules } = totals.comparison;
  const place = placesOf(totals.comparison.channels);
  const amounts = Float64Array.from(channels, (channel) => 100 * valueAt(rules[rule].value, place.get(channel)));
  return largestRemainder(amounts, toCents(totals.revenue) - toCents(totals.unattributedRevenue));
}

function placesOf(channels: readonly string[]): ReadonlyMap<string, number> {
  return new Map(channels.map((channel, index) => [channel, index]));
}

/** A channel that a model or rule does not know, such as one with spend alone, has nothing of it. */
function valueAt(column: Float64Array, index: number | undefined): number {
  return index === undefined ? 0 : column[index]!;
}
