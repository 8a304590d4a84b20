import { NO_CHANNEL, type EventTable } from '../../../compute/journey-tables.ts';
import { seededRandom, type Random } from '../../../compute/numerics/random.ts';

export const DAY = 86_400;

export interface ShopperPlan {
  readonly users: number;
  readonly seed: number;
  /** Days from 0 on which touches happen. */
  readonly days?: number;
  /** Probability that a touch of each channel ends in an order. */
  readonly buys?: readonly number[];
  /** How often each channel follows whatever was before. */
  readonly mix?: (dayOfTouch: number) => readonly number[];
  /** Multiplies the probability of an order for some users. */
  readonly factor?: (userHash: number) => number;
  /** Multiplies the weight of channel 0 in the mix of some users. */
  readonly visits?: (userHash: number) => number;
}

/** Some are in the market: they visit by themselves more often, and buy more, whatever the channel. */
export const IN_MARKET = {
  factor: (hash: number) => (hash % 4 === 0 ? 3 : 1),
  visits: (hash: number) => (hash % 4 === 0 ? 4 : 0.1),
} as const;

const BUYS = [0.02, 0.05, 0.15, 0.1];
const MIX = [0.4, 0.3, 0.2, 0.1];

/**
 * Users who touch independent channels about every second day; each touch may end in an order. The order-1 chain of
 * channels is exact.
 */
export function shoppers({
  users,
  seed,
  days = 60,
  buys = BUYS,
  mix = () => MIX,
  factor = () => 1,
  visits = () => 1,
}: ShopperPlan): EventTable {
  const random = seededRandom(seed);
  const userStart = [0];
  const userHash: number[] = [];
  const [timeS, channel, conversion, value] = [[], [], [], []] as [number[], number[], number[], number[]];
  for (let user = 0; user < users; user++) {
    const hash = Math.floor(random() * 2 ** 32);
    userHash.push(hash);
    for (let at = random() * days * DAY; at < days * DAY; at += (0.5 + 3 * random()) * DAY) {
      const touched = pick(
        mix(at / DAY).map((weight, c) => (c === 0 ? weight * visits(hash) : weight)),
        random,
      );
      timeS.push(at);
      channel.push(touched);
      conversion.push(0);
      if (random() < buys[touched]! * factor(hash)) {
        timeS.push(at + 60);
        channel.push(NO_CHANNEL);
        conversion.push(1);
        value.push(10 + Math.floor(90 * random()));
      }
    }
    userStart.push(timeS.length);
  }
  return {
    channels: buys.map((_, c) => `c${c}`),
    userStart: Uint32Array.from(userStart),
    userHash: Uint32Array.from(userHash),
    timeS: Float64Array.from(timeS),
    channel: Uint16Array.from(channel),
    conversion: Uint8Array.from(conversion),
    value: Float64Array.from(value),
  };
}

function pick(weights: readonly number[], random: Random): number {
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  return Math.max(
    0,
    weights.findIndex((weight) => (left -= weight) < 0),
  );
}
