import { Kind } from './candidate-history.ts';
import type { CandidateHistory } from './candidate-history.ts';
import { boundOfBoost } from './draw-history.ts';
import type { WorldSpec } from './world-spec.ts';

export interface ReplayOutcome {
  orders: number;
  revenue: number;
}

/**
 * Walks one user's candidates in the order of time and decides, by their marks, which of them happen when some channels
 * are switched off. What it keeps: the ad-stock of each channel (own touches, halved every half-life), the potency of
 * each touch, the last order.
 */
export class Replay {
  /** 1 = the candidate of that index happened in the last run */
  happened = new Uint8Array(256);
  /** touches of each channel that happened in the last run */
  readonly touches: Uint32Array;
  private potency = new Float64Array(256);
  private readonly stock: Float64Array;
  private readonly stockDays: Float64Array;
  private readonly bound: Float64Array;
  private readonly booster: Int32Array;
  private readonly spec: WorldSpec;

  constructor(spec: WorldSpec) {
    const { channels } = spec;
    this.spec = spec;
    this.touches = new Uint32Array(channels.length);
    this.stock = new Float64Array(channels.length);
    this.stockDays = new Float64Array(channels.length);
    this.bound = Float64Array.from(channels, boundOfBoost);
    this.booster = Int32Array.from(channels, ({ boost }) =>
      boost === null ? -1 : channels.findIndex(({ name }) => name === boost.by),
    );
  }

  /** Writes what came of it into `outcome`. `off` has one entry per channel, 1 = switched off. */
  run(history: CandidateHistory, off: Uint8Array, outcome: ReplayOutcome): void {
    const { count, order, timeDays, channel, kind, parent, mark, rest, value, known } = history;
    const { satiation } = this.spec;
    if (this.happened.length < count) {
      this.happened = new Uint8Array(order.length);
      this.potency = new Float64Array(order.length);
    }
    const { happened, potency, touches } = this;
    touches.fill(0);
    this.stock.fill(0);
    this.stockDays.fill(0);
    outcome.orders = 0;
    outcome.revenue = 0;
    let lastOrder = -Infinity;
    for (let n = 0; n < count; n++) {
      const i = order[n]!;
      const t = timeDays[i]!;
      const wish = 1 - satiation.depth * Math.exp((lastOrder - t) / satiation.days);
      happened[i] = 0;
      if (kind[i]! >= Kind.organicOrder) {
        if (rest[i]! >= wish) continue;
        const cause = parent[i]!;
        if (
          kind[i] === Kind.causedOrder &&
          (happened[cause] === 0 || mark[i]! * this.bound[channel[cause]!]! >= potency[cause]!)
        )
          continue;
        happened[i] = 1;
        lastOrder = t;
        outcome.orders++;
        outcome.revenue += value[i]!;
        continue;
      }
      const c = channel[i]!;
      if (off[c] === 1) continue;
      if (kind[i] === Kind.interest && mark[i]! >= wish) continue;
      if (kind[i] === Kind.customer && !known && lastOrder === -Infinity) continue;
      if (kind[i] === Kind.offspring && happened[parent[i]!] === 0) continue;
      happened[i] = 1;
      touches[c]!++;
      potency[i] = this.potencyOf(c, t);
    }
  }

  /** What is left of the channel's stock at `t`. */
  private stockAt(c: number, t: number): number {
    return this.stock[c]! * 2 ** ((this.stockDays[c]! - t) / this.spec.channels[c]!.halfLifeDays);
  }

  /** A touch's strength as a multiple of its effect; puts the touch into the stock. */
  private potencyOf(c: number, t: number): number {
    const { saturation, boost } = this.spec.channels[c]!;
    const stock = this.stockAt(c, t);
    this.stock[c] = stock + 1;
    this.stockDays[c] = t;
    const fresh = saturation === Infinity ? 1 : 1 / (1 + stock / saturation);
    return boost === null
      ? fresh
      : fresh * (boost.without + (boost.with - boost.without) * (1 - 2 ** -this.stockAt(this.booster[c]!, t)));
  }
}
