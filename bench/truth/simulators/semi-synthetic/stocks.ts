import type { World } from './world.ts';

const DAY_S = 86_400;

/**
 * Memory of advertising: a stock per channel that decays exponentially (adstock: Broadbent 1979, Journal of the
 * Market Research Society 21) and saturates as S / (S + half).
 */
export class Stocks {
  private readonly level: Float64Array;
  private readonly at: Float64Array;
  private visitLevel = 0;
  private visitAt = 0;
  private readonly world: World;
  private readonly decay: Float64Array;
  private readonly visitDecay: number;

  constructor(world: World) {
    const { channels } = world.spec;
    this.world = world;
    this.level = new Float64Array(channels.length);
    this.at = new Float64Array(channels.length);
    this.decay = Float64Array.from(channels, (c) => Math.LN2 / (c.halfLife * DAY_S));
    this.visitDecay = Math.LN2 / (world.spec.visitHalfLife * DAY_S);
  }

  clear(): void {
    this.level.fill(0);
    this.visitLevel = 0;
  }

  add(channel: number, amount: number, time: number): void {
    const old = this.level[channel]!;
    const left = old > 0 ? old * Math.exp(-this.decay[channel]! * (time - this.at[channel]!)) : 0;
    this.level[channel] = left + amount;
    this.at[channel] = time;
  }

  addVisit(amount: number, time: number): void {
    this.visitLevel = this.visitLevel * Math.exp(-this.visitDecay * Math.max(0, time - this.visitAt)) + amount;
    this.visitAt = time;
  }

  private saturated(channel: number, time: number): number {
    const level = this.level[channel]!;
    if (level === 0) return 0;
    const now = level * Math.exp(-this.decay[channel]! * (time - this.at[channel]!));
    return now / (now + this.world.spec.channels[channel]!.halfStock);
  }

  /** Interest by visits of the last days, saturating. */
  visits(time: number): number {
    if (this.visitLevel === 0) return 0;
    const now = this.visitLevel * Math.exp(-this.visitDecay * Math.max(0, time - this.visitAt));
    return (2 * now) / (now + 1);
  }

  /** Change of the log odds by all channels and their synergy; harm is not scaled with the rest. */
  effect(time: number): number {
    const {
      effectScale,
      spec: { channels, synergy },
    } = this.world;
    let sum = 0;
    for (let c = 0; c < channels.length; c += 1) {
      const { strength } = channels[c]!;
      if (strength !== 0) sum += (strength > 0 ? effectScale : 1) * strength * this.saturated(c, time);
    }
    if (synergy.strength > 0) {
      sum += effectScale * synergy.strength * this.saturated(synergy.a, time) * this.saturated(synergy.b, time);
    }
    return sum;
  }
}
