import type { Tally } from './tally.ts';
import type { Scenario, World } from './world.ts';

/**
 * What a channel cost on a day. Broadcast and posters are bought by rating points whether or not anybody looks;
 * auctions by exposure or click, dearer where more is bought; affiliates by commission.
 */
export function spendOf(
  world: World,
  scenario: Scenario,
  tally: Tally,
  people: number,
  c: number,
  day: number,
): number {
  const channel = world.spec.channels[c]!;
  const factor = scenario.spend[c]!;
  if (!channel.paid || factor === 0) return 0;
  const cell = c * world.spec.days + day;
  const t = c * world.totalDays + day + world.spec.burnInDays;
  const level = world.calendar.priceLevel[t]! * world.scales.price * channel.price;
  if (channel.targeting === 'broad') {
    return people * channel.member * channel.rate * world.calendar.reach[t]! * factor * level;
  }
  const margin = Math.pow(factor, 1 - channel.elasticity);
  return tally.units[cell]! * level * margin + (tally.through[cell]! / 100) * channel.commission;
}
