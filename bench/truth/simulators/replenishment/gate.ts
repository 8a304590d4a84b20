import type { Channel } from './model.ts';
import { uniform } from './random.ts';

/** A plan, for one person. */
export interface Scenario {
  /** on spend, per channel; of the window */
  readonly factors: Float64Array;
  readonly withheld: { readonly bits: number; readonly fromDay: number; readonly toDay: number } | null;
}

const MEET_SLOT = 50;

/** Whether what might be met is met: by its mark and the reach f / (f + k) that the spend buys. */
export class Gate {
  private readonly channels: readonly Channel[];
  private scenario: Scenario;

  constructor(channels: readonly Channel[], scenario: Scenario) {
    this.channels = channels;
    this.scenario = scenario;
  }

  follow(scenario: Scenario): void {
    this.scenario = scenario;
  }

  /** The plan begins with the window: before it, all is as it is. */
  isOpen(channel: number, t: number, key: number): boolean {
    const { factors, withheld } = this.scenario;
    const f = t < 0 ? 1 : factors[channel]!;
    if (withheld !== null && ((withheld.bits >> channel) & 1) === 1 && t >= withheld.fromDay && t < withheld.toDay)
      return false;
    return uniform(key, MEET_SLOT) < f / (f + this.channels[channel]!.k);
  }
}
