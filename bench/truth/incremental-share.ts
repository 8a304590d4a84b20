import { simulateWorld } from './simulate-world.ts';
import type { WorldSpec } from './world-spec.ts';

const PILOT_USERS = 10_000;
const ROUNDS = 3;

/**
 * The world with its channels' effects scaled, all by one factor, until advertising brings `share` of the orders; found
 * on a small pilot. A world without effects stays one.
 */
export function withIncrementalShare(spec: WorldSpec, share: number): WorldSpec {
  let scaled = spec;
  for (let round = 0; round < ROUNDS; round++) {
    const { total, conversions } = simulateWorld({ ...scaled, users: PILOT_USERS }).truth;
    if (total.conversions <= 0) return scaled;
    const factor = (share / (1 - share)) * ((conversions - total.conversions) / total.conversions);
    scaled = {
      ...scaled,
      channels: scaled.channels.map((channel) => ({ ...channel, effect: channel.effect * factor })),
    };
  }
  return scaled;
}
