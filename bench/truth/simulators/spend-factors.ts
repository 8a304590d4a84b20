import type { Plan, SimulatedChannel } from './simulator.ts';

/**
 * A plan's factors per channel: 1 where it names none, and for unpaid channels, which have no spend.
 *
 * @throws RangeError where the plan names no channel of the shop, or a factor outside 0 … `most`
 */
export function spendFactors(channels: readonly SimulatedChannel[], plan: Plan, most = Infinity): Float64Array {
  const factors = new Float64Array(channels.length).fill(1);
  for (const [name, factor] of Object.entries(plan.spend ?? {})) {
    const c = channelIndex(channels, name);
    if (!(factor >= 0 && factor <= most)) throw new RangeError(`spend of ${name}: ${factor} is not within 0 … ${most}`);
    if (channels[c]!.paid) factors[c] = factor;
  }
  return factors;
}

/**
 * Channels as bits of a number; a shop has fewer than 31.
 *
 * @throws RangeError where no channel is called so
 */
export function channelBits(channels: readonly SimulatedChannel[], names: readonly string[]): number {
  return names.reduce((bits, name) => bits | (1 << channelIndex(channels, name)), 0);
}

/** @throws RangeError where no channel is called so */
export function channelIndex(channels: readonly SimulatedChannel[], name: string): number {
  const c = channels.findIndex((channel) => channel.name === name);
  if (c < 0) throw new RangeError(`The shop has no channel ${name}.`);
  return c;
}
