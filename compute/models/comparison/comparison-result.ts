/** The rules that other tools use, computed beside the models. */
export const COMPARISON_RULES = ['last', 'first', 'linear', 'position', 'timeDecay'] as const;
export type ComparisonRule = (typeof COMPARISON_RULES)[number];

/** What one rule credits. */
export interface RuleCredits {
  /** per channel, sums to the attributed conversions */
  readonly conversions: Float64Array;
  /** per channel, major units, sums to the attributed revenue */
  readonly value: Float64Array;
  /** value / total, or conversions / total where there is no revenue */
  readonly share: Float64Array;
}

/** Converting journeys divided by simple rules. */
export interface ComparisonResult {
  readonly ok: true;
  readonly model: 'comparison';
  readonly channels: readonly string[];
  readonly rules: Readonly<Record<ComparisonRule, RuleCredits>>;
  readonly attributed: { readonly conversions: number; readonly value: number };
  /** conversions without any touch: the baseline's */
  readonly unattributed: { readonly conversions: number; readonly value: number };
}
