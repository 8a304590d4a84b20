import { simulateWorld, WORLD_START_S } from '../../../bench/truth/simulate-world.ts';
import type { World } from '../../../bench/truth/simulate-world.ts';
import { withIncrementalShare } from '../../../bench/truth/incremental-share.ts';
import { withoutEffects } from '../../../bench/truth/world-spec.ts';
import { faultOfEventTable } from '../../../compute/journey-tables.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import { channel, unpaid, world } from './small-worlds.ts';

const UNPAID = [unpaid('direct'), unpaid('organic_search')];
/** Everything that the simulator knows, in one population. */
const busy = world(
  [
    channel('display', { effect: 0.02, targeting: 0.5, saturation: 2, halo: 2 }),
    channel('email', { effect: 0.02, customersOnly: true }),
    channel('paid_search', { effect: 0.05, interestShare: 0.8, closing: 0.3 }),
    channel('affiliate', { interestShare: 0.9, lagDays: 3, closing: 0.3 }),
    channel('retargeting', { effect: 0.02, perVisit: 0.5, boost: { by: 'display', without: 0.3, with: 2 } }),
    channel('social', { onAir: 0.5 }),
    ...UNPAID,
  ],
  {
    propensitySpread: 0.6,
    effectOnInterest: 0.4,
    effectOnPropensity: 0.5,
    satiation: { depth: 0.7, days: 10 },
    announcingVisits: 0.3,
    orderLagDays: 2,
    orderSteepness: 1.4,
    weekly: 0.2,
    growth: 0.3,
  },
);

/** Per user: touches of channel 0 and revenue. */
function byUser({ events }: World): { touched: boolean; revenue: number }[] {
  let next = 0;
  return Array.from(events.userHash, (_, user) => {
    let touched = false;
    let revenue = 0;
    for (let i = events.userStart[user]!; i < events.userStart[user + 1]!; i++) {
      if (events.conversion[i] === 1) revenue += events.value[next++]!;
      else if (events.channel[i] === 0) touched = true;
    }
    return { touched, revenue };
  });
}

/** Difference of the mean revenue of touched and untouched users, times the touched ones; and its standard error. */
function naive(simulated: World): { effect: number; error: number } {
  const users = byUser(simulated);
  // Users without any event are not in the table, but they were not touched either.
  const silent = simulated.spec.users - users.length;
  const touched = users.filter((user) => user.touched).map(({ revenue }) => revenue);
  const untouched = [
    ...users.filter((user) => !user.touched).map(({ revenue }) => revenue),
    ...Array.from({ length: silent }, () => 0),
  ];
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = (values: readonly number[]): number =>
    (mean(values.map((value) => value ** 2)) - mean(values) ** 2) / values.length;
  return {
    effect: touched.length * (mean(touched) - mean(untouched)),
    error: touched.length * Math.sqrt(variance(touched) + variance(untouched)),
  };
}

describe('a simulated world', () => {
  it('is the same each time, and another one with another seed', () => {
    const [first, again, other] = [simulateWorld(busy), simulateWorld(busy), simulateWorld({ ...busy, seed: 8 })];
    expect(again.truth).toEqual(first.truth);
    expect(Buffer.compare(Buffer.from(again.events.timeS), Buffer.from(first.events.timeS))).toBe(0);
    expect(Buffer.compare(Buffer.from(again.events.channel), Buffer.from(first.events.channel))).toBe(0);
    expect(other.truth.revenue).not.toBe(first.truth.revenue);
  });

  it('gives a sound event table inside its window, whose orders and touches are those of the truth', () => {
    const { events, truth, spec } = simulateWorld(busy);
    expect(faultOfEventTable(events)).toBeNull();
    expect(events.value).toHaveLength(truth.conversions);
    expect(events.value.reduce((sum, value) => sum + value, 0)).toBeCloseTo(truth.revenue, 1);
    expect(events.timeS.every((t) => t >= WORLD_START_S && t < WORLD_START_S + spec.days * DAY_S)).toBe(true);
    const touches = spec.channels.map(() => 0);
    events.channel.forEach((c, i) => {
      if (events.conversion[i] === 0) touches[c]!++;
    });
    expect(truth.touches).toEqual(touches);
  });

  it('loses nothing with a channel that has no effect, whatever its selection', () => {
    const { truth, spec } = simulateWorld(busy);
    for (const name of ['affiliate', 'social'])
      expect(truth.switchOff[spec.channels.findIndex((one) => one.name === name)]).toEqual({
        conversions: 0,
        revenue: 0,
      });
    for (const name of ['display', 'paid_search', 'retargeting'])
      expect(truth.switchOff[spec.channels.findIndex((one) => one.name === name)]!.conversions).toBeGreaterThan(0);
    expect(truth.share.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
  });

  it('loses nothing at all where nothing works', () => {
    const { truth } = simulateWorld(withoutEffects(busy));
    expect(truth.total).toEqual({ conversions: 0, revenue: 0 });
    expect(truth.share.every((share) => share === 0)).toBe(true);
    expect(truth.conversions).toBeGreaterThan(0);
  });

  it('has single losses that add up to the total where channels do not meddle with one another', () => {
    const { truth } = simulateWorld(
      world([channel('display', { effect: 0.05 }), channel('video', { effect: 0.1 }), ...UNPAID]),
    );
    expect(truth.switchOff.reduce((sum, lost) => sum + lost.conversions, 0)).toBe(truth.total.conversions);
    expect(truth.switchOff.reduce((sum, lost) => sum + lost.revenue, 0)).toBeCloseTo(truth.total.revenue, 1);
  });

  it('lets a channel that works only after another one lose everything with that one', () => {
    const after = channel('retargeting', { effect: 0.1, boost: { by: 'video', without: 0, with: 3 } });
    const { truth } = simulateWorld(world([channel('video', { effect: 0.02 }), after, ...UNPAID]));
    expect(truth.switchOff[0]).toEqual(truth.total);
    expect(truth.switchOff[1]!.revenue).toBeGreaterThan(0);
  });

  it('sets off as many orders per touch as the spec says, fewer where touches wear out or orders sate', () => {
    const perTouch = (changes: Parameters<typeof channel>[1], depth = 0): number => {
      const { truth } = simulateWorld(
        world([channel('display', { effect: 0.05, touchesPerUser: 3, halfLifeDays: 0.5, ...changes }), ...UNPAID], {
          users: 20_000,
          satiation: { depth, days: 20 },
        }),
      );
      return truth.total.conversions / truth.touches[0]!;
    };
    const fresh = perTouch({});
    // Poisson error of about 3,000 orders: 2 %.
    expect(fresh).toBeGreaterThan(0.046);
    expect(fresh).toBeLessThan(0.054);
    expect(perTouch({ saturation: 0.5, halfLifeDays: 5 })).toBeLessThan(0.75 * fresh);
    expect(perTouch({}, 1)).toBeLessThan(0.9 * fresh);
  });

  it(
    'agrees with a comparison of touched and untouched users when touches are random, and not when they follow ' +
      'interest',
    () => {
      const display = { effect: 0.06, halfLifeDays: 1 };
      const random = simulateWorld(world([channel('display', display), ...UNPAID], { users: 30_000 }));
      const comparison = naive(random);
      expect(Math.abs(comparison.effect - random.truth.total.revenue)).toBeLessThan(3 * comparison.error);
      expect(comparison.error).toBeLessThan(0.15 * random.truth.total.revenue);

      const selected = simulateWorld(
        world([channel('display', { ...display, interestShare: 0.8 }), ...UNPAID], { users: 30_000 }),
      );
      expect(naive(selected).effect).toBeGreaterThan(2 * selected.truth.total.revenue);
    },
  );

  it('can be scaled to the part of the orders that advertising brings', () => {
    const { truth } = simulateWorld(withIncrementalShare(busy, 0.4));
    expect(truth.total.conversions / truth.conversions).toBeGreaterThan(0.35);
    expect(truth.total.conversions / truth.conversions).toBeLessThan(0.45);
  });
});
