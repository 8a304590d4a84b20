import { seededRandom } from '../../../../compute/numerics/random.ts';
import { NO_CHANNEL } from '../../../../compute/journey-tables.ts';
import { Kind } from '../../candidate-history.ts';
import type { CandidateHistory } from '../../candidate-history.ts';
import { HistoryDraw } from '../../draw-history.ts';
import { Replay } from '../../replay.ts';
import type { ReplayOutcome } from '../../replay.ts';
import type { WorldSpec } from '../../world-spec.ts';
import { uniformOf } from '../consideration/random.ts';

/** The highest factor on spend. Touches are drawn for it and thinned to the plan's: the same marks in all runs. */
export const MOST_SPEND = 3;

/** What is done to a person: factors on each channel's touches, and channels, as bits, withheld on some days. */
export interface Scenario {
  readonly factors: Float64Array;
  readonly withheld: { readonly bits: number; readonly fromDay: number; readonly toDay: number } | null;
}

const THINNING = 0;
const CLOSING = 1;

/** One person after the other: what may happen to them, and what does under a scenario. */
export class PlannedLife {
  readonly outcome: ReplayOutcome = { orders: 0, revenue: 0 };
  private readonly spec: WorldSpec;
  private readonly draw: HistoryDraw;
  private readonly replay: Replay;
  /** a channel beyond those of the shop, always off, to which touches go that the scenario takes away */
  private readonly nowhere: number;
  private readonly direct: number;
  private history: CandidateHistory | null = null;
  private person = -1;

  constructor(spec: WorldSpec) {
    const ample = spec.channels.map((channel) =>
      channel.paid
        ? {
            ...channel,
            touchesPerUser: channel.touchesPerUser * MOST_SPEND,
            perVisit: channel.perVisit * MOST_SPEND,
          }
        : channel,
    );
    this.spec = spec;
    this.draw = new HistoryDraw({ ...spec, channels: ample }, seededRandom(spec.seed));
    this.nowhere = spec.channels.length;
    this.direct = spec.channels.findIndex(({ name }) => name === 'direct');
    const nowhere = { ...spec.channels[0]!, name: 'nowhere', boost: null };
    this.replay = new Replay({ ...spec, channels: [...spec.channels, nowhere] });
  }

  /** Draws the next person, and takes away the touches that the scenario does without. */
  next(scenario: Scenario): void {
    const history = this.draw.next();
    this.history = history;
    this.person++;
    for (let i = 0; i < history.count; i++) {
      const c = history.channel[i]!;
      if (c === NO_CHANNEL || !this.spec.channels[c]!.paid) continue;
      const factor = factorOn(scenario, c, history.timeDays[i]!);
      if (history.kind[i]! < Kind.organicOrder) {
        if (this.mark(i, THINNING) * MOST_SPEND >= factor) history.channel[i] = this.nowhere;
        // The click by which somebody comes to order: without it they come directly.
      } else if (this.mark(i, CLOSING) >= factor) history.channel[i] = this.direct;
    }
  }

  /** Lives through it with some channels off (bits); `outcome` says what came of it. @returns bits of channels met */
  live(off: number): number {
    const isOff = Uint8Array.from({ length: this.nowhere + 1 }, (_, c) => Number(c === this.nowhere || (off >> c) & 1));
    this.replay.run(this.history!, isOff, this.outcome);
    return this.spec.channels.reduce((bits, _, c) => (this.replay.touches[c]! > 0 ? bits | (1 << c) : bits), 0);
  }

  /** What happened in the last life, in the order of time. A `channel` of -1 is an order without a click. */
  *events(): Generator<{ timeDays: number; channel: number; isOrder: boolean; cents: number }> {
    const history = this.history!;
    for (let n = 0; n < history.count; n++) {
      const i = history.order[n]!;
      if (this.replay.happened[i] === 0) continue;
      const channel = history.channel[i]!;
      yield {
        timeDays: history.timeDays[i]!,
        channel: channel === NO_CHANNEL ? -1 : channel,
        isOrder: history.kind[i]! >= Kind.organicOrder,
        cents: Math.round(100 * history.value[i]!),
      };
    }
  }

  private mark(candidate: number, slot: number): number {
    return uniformOf(this.spec.seed, this.person, candidate, slot);
  }
}

function factorOn({ factors, withheld }: Scenario, channel: number, timeDays: number): number {
  const isWithheld =
    withheld !== null &&
    ((withheld.bits >> channel) & 1) === 1 &&
    timeDays >= withheld.fromDay &&
    timeDays < withheld.toDay;
  return isWithheld ? 0 : factors[channel]!;
}
