import { sharesOf } from '../credits.ts';
import type { ComparisonResult, RuleCredits } from './comparison-result.ts';

/** Of the credit that time decay gives to a touch; paths carry no times, and a step counts as a day there. */
export const HALF_LIFE_DAYS = 7;

interface Credits {
  readonly conversions: Float64Array;
  readonly value: Float64Array;
}

const withShare = ({ conversions, value }: Credits): RuleCredits => ({
  conversions,
  value,
  share: sharesOf(value, conversions),
});

/** Credits of the five rules, summed journey by journey. */
export class RuleSums {
  private readonly channels: readonly string[];
  private readonly last: Credits;
  private readonly first: Credits;
  private readonly linear: Credits;
  private readonly position: Credits;
  private readonly timeDecay: Credits;

  constructor(channels: readonly string[]) {
    this.channels = channels;
    const none = (): Credits => ({
      conversions: new Float64Array(channels.length),
      value: new Float64Array(channels.length),
    });
    this.last = none();
    this.first = none();
    this.linear = none();
    this.position = none();
    this.timeDecay = none();
  }

  /** Last, first, linear and position (40/20/40) of the journey `steps[begin .. end)`, which must not be empty. */
  addEnds(steps: Uint16Array, begin: number, end: number, conversions: number, value: number): void {
    const { linear, position } = this;
    const length = end - begin;
    const first = steps[begin]!;
    const last = steps[end - 1]!;
    this.first.conversions[first]! += conversions;
    this.first.value[first]! += value;
    this.last.conversions[last]! += conversions;
    this.last.value[last]! += value;
    const linearConversions = conversions / length;
    const linearValue = value / length;
    for (let i = begin; i < end; i++) {
      linear.conversions[steps[i]!]! += linearConversions;
      linear.value[steps[i]!]! += linearValue;
    }
    const ends = length === 1 ? 1 : length === 2 ? 0.5 : 0.4;
    position.conversions[first]! += ends * conversions;
    position.value[first]! += ends * value;
    if (length === 1) return;
    position.conversions[last]! += ends * conversions;
    position.value[last]! += ends * value;
    const between = length === 2 ? 0 : 0.2 / (length - 2);
    for (let i = begin + 1; i < end - 1; i++) {
      position.conversions[steps[i]!]! += between * conversions;
      position.value[steps[i]!]! += between * value;
    }
  }

  /** One touch's part (0 … 1) of its journey under time decay. */
  addDecayed(channel: number, part: number, conversions: number, value: number): void {
    this.timeDecay.conversions[channel]! += part * conversions;
    this.timeDecay.value[channel]! += part * value;
  }

  result(attributed: ComparisonResult['attributed'], unattributed: ComparisonResult['unattributed']): ComparisonResult {
    return {
      ok: true,
      model: 'comparison',
      channels: this.channels,
      rules: {
        last: withShare(this.last),
        first: withShare(this.first),
        linear: withShare(this.linear),
        position: withShare(this.position),
        timeDecay: withShare(this.timeDecay),
      },
      attributed,
      unattributed,
    };
  }
}
