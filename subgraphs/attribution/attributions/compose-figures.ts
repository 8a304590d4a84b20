import { largestRemainder, toCents } from '../../../compute/numerics/largest-remainder.ts';
import type { TaskOutcome } from '../../../compute/tasks.ts';
import type { AttributionModel } from './attribution.ts';
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

interface RawCredit {
  readonly conversions: Float64Array;
  readonly value: Float64Array;
  readonly share: Float64Array;
  readonly baselineRevenue: number;
  readonly confidence: Float64Array | null;
  readonly overallConfidence: number | null;
  readonly intervalLow: Float64Array | null;
  readonly intervalHigh: Float64Array | null;
}

/**
 * Turns one model's outcome into the channel figures that are published: cents by largest remainder, so that the
 * channels and the baseline sum to the revenue of the run exactly.
 */
export function creditOf(model: AttributionModel, outcome: Successful<AttributionModel>, totals: RunTotals): Credit {
  const raw = rawCredit(model, outcome, totals);
  const revenueCents = toCents(totals.revenue);
  const place = placesOf(outcome.channels);
  const of = (column: Float64Array, channel: string): number => valueAt(column, place.get(channel));
  const amounts = Float64Array.from([...totals.channels.map((channel) => 100 * of(raw.value, channel)), 100 * raw.baselineRevenue]);
  const cents = largestRemainder(amounts, revenueCents);
  const lastClickCents = ruleCents(totals, 'last', totals.channels);
  const channels = totals.channels.map((channel, index): ChannelFigures => ({
    channel,
    isBaseline: totals.isBaseline[index] === 1,
    spend: totals.spend.get(channel) ?? 0,
    attributedRevenueCents: cents[index]!,
    lastclickRevenueCents: lastClickCents[index]!,
    conversions: of(raw.conversions, channel),
    share: of(raw.share, channel),
    confidence: raw.confidence === null || totals.isBaseline[index] === 1 ? null : of(raw.confidence, channel),
    confidenceInterval:
      raw.intervalLow === null || raw.intervalHigh === null || totals.isBaseline[index] === 1
        ? null
        : // The cent that rounding moved to the channel stays inside.
          { lower: Math.min(of(raw.intervalLow, channel), cents[index]! / 100), upper: Math.max(of(raw.intervalHigh, channel), cents[index]! / 100), level: totals.confidenceLevel },
  }));
  return { channels, revenueCents, baselineRevenueCents: cents[totals.channels.length]!, confidence: raw.overallConfidence };
}

function rawCredit(model: AttributionModel, outcome: Successful<AttributionModel>, totals: RunTotals): RawCredit {
  const { conversions, value, share } = outcome;
  const plain = { conversions, value, share, confidence: null, overallConfidence: null, intervalLow: null, intervalHigh: null };
  if (outcome.model === 'causal') {
    const { confidence, overallConfidence, intervalLow, intervalHigh, baselineRevenue } = outcome;
    return { ...plain, confidence, overallConfidence, intervalLow, intervalHigh, baselineRevenue };
  }
  if (outcome.model === 'prav') {
    return { ...plain, intervalLow: outcome.intervalLow, intervalHigh: outcome.intervalHigh, baselineRevenue: totals.revenue - outcome.total };
  }
  if (outcome.model !== model) throw new Error(`asked for ${model}, was given the outcome of ${outcome.model}`);
  // A path model divides everything that has a path among all channels; only what has none is left to the baseline.
  return { ...plain, baselineRevenue: totals.unattributedRevenue };
}

/**
 * Recovered revenue: over the paid channels that earned something and that last click under-credits, what the model
 * attributes and what last click did; their difference is what last click hid. `deltaRNetCents` is the signed sum over all paid channels.
 */
export function recoveredRevenue(channels: readonly ChannelFigures[]): Pick<AnalysisFigures, 'revenueCausalCents' | 'revenueLastclickCents' | 'deltaRCents' | 'deltaRNetCents'> {
  const paid = channels.filter((channel) => !channel.isBaseline);
  const underCredited = paid.filter((channel) => channel.attributedRevenueCents > Math.max(0, channel.lastclickRevenueCents));
  const sum = (of: readonly ChannelFigures[], cents: (channel: ChannelFigures) => number) => of.reduce((total, channel) => total + cents(channel), 0);
  const revenueCausalCents = sum(underCredited, (channel) => channel.attributedRevenueCents);
  const revenueLastclickCents = sum(underCredited, (channel) => channel.lastclickRevenueCents);
  return {
    revenueCausalCents,
    revenueLastclickCents,
    deltaRCents: revenueCausalCents - revenueLastclickCents,
    deltaRNetCents: sum(paid, (channel) => channel.attributedRevenueCents - channel.lastclickRevenueCents),
  };
}

const RULE_NAMES = { last: 'last_click', first: 'first_click', linear: 'linear', timeDecay: 'time_decay', position: 'position_based' } as const satisfies Record<string, ComparisonRule>;

/** Revenue per channel by each comparison rule, major units; each rule and the unattributed revenue sum to the revenue of the run to the cent. */
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
    return outcome.ok ? [[model, Object.fromEntries(outcome.channels.map((channel, index) => [channel, outcome.share[index]!]))] as const] : [];
  });
  return Object.fromEntries(members);
}

/** What a comparison rule gives each of `channels`, in cents: they share what is not the revenue of conversions without a touch. */
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
