import { FAMILIES } from '../../../bench/truth/world-families.ts';
import { simulateWorld } from '../../../bench/truth/simulate-world.ts';
import { paidChannels } from '../../../bench/truth/world-spec.ts';
import { REPORT_USERS, reportWorlds, SMALLER_SIZES, smallerWorlds, tuningWorlds } from '../../../bench/truth/worlds.ts';
import {
  DEFAULT_BASELINE_CHANNELS,
  isBaselineChannel,
} from '../../../subgraphs/attribution/intake/data-sources/data-source.ts';

const specs = [...reportWorlds(), ...tuningWorlds()].map(({ draft }) => draft);
const report = specs.filter((spec) => !spec.name.startsWith('tuning_'));

describe('the worlds of the truth report', () => {
  it('cover every family, with the hard ones among them', () => {
    const count = (family: string): number => report.filter((spec) => spec.family === family).length;
    expect(FAMILIES.every((family) => count(family) >= 2)).toBe(true);
    expect(report.length).toBeGreaterThanOrEqual(24);
    expect(count('plain')).toBeGreaterThanOrEqual(8);
    expect(count('strong_selection')).toBeGreaterThanOrEqual(5);
    expect(count('halo')).toBeGreaterThanOrEqual(5);
    expect(
      report.filter((spec) => spec.family === 'nothing_works' && spec.channels.every(({ effect }) => effect === 0))
        .length,
    ).toBeGreaterThanOrEqual(4);
    expect(
      report.filter(
        (spec) => spec.family !== 'nothing_works' && spec.channels.some(({ paid, effect }) => paid && effect === 0),
      ).length,
    ).toBeGreaterThanOrEqual(10);
    expect(
      report
        .filter((spec) => spec.family === 'halo')
        .every((spec) => spec.channels.some(({ effect, halo }) => effect * halo > 0)),
    ).toBe(true);
    expect(
      report
        .filter((spec) => spec.family === 'order_effects')
        .every((spec) => spec.channels.some(({ boost }) => boost !== null)),
    ).toBe(true);
  });

  it('have 6 to 10 paid channels and two unpaid ones that the product takes for such', () => {
    for (const spec of specs) {
      const paid = paidChannels(spec);
      expect(paid.length).toBeGreaterThanOrEqual(6);
      expect(paid.length).toBeLessThanOrEqual(10);
      spec.channels.forEach((channel) =>
        expect(isBaselineChannel(channel.name, DEFAULT_BASELINE_CHANNELS)).toBe(!channel.paid),
      );
      expect(spec.channels.length - paid.length).toBe(2);
    }
  });

  it('have the customers that the bars were set for, and smaller ones are the same worlds with fewer', () => {
    expect(report.every(({ users }) => users === REPORT_USERS)).toBe(true);
    const smaller = smallerWorlds().map(({ draft }) => draft);
    expect(new Set(smaller.map(({ name }) => name)).size).toBe(smaller.length);
    for (const spec of smaller) {
      const [whole, size] = spec.name.split('_of_');
      expect(SMALLER_SIZES.map(String)).toContain(size);
      expect(spec).toEqual({ ...report.find(({ name }) => name === whole), name: spec.name, users: Number(size) });
    }
  });

  it('begin with the same people, whatever their number', () => {
    const [world] = reportWorlds();
    const some = simulateWorld({ ...world!.draft, users: 300 });
    const more = simulateWorld({ ...world!.draft, users: 500 });
    expect(some.events.timeS.length).toBeGreaterThan(0);
    expect(more.events.timeS.subarray(0, some.events.timeS.length)).toEqual(some.events.timeS);
    expect(more.events.channel.subarray(0, some.events.channel.length)).toEqual(some.events.channel);
    expect(more.truth.conversions).toBeGreaterThan(some.truth.conversions);
  });

  it('share neither names nor seeds with the worlds for tuning', () => {
    expect(new Set(specs.map(({ name }) => name)).size).toBe(specs.length);
    const seeds = new Set(report.map(({ seed }) => seed));
    expect(specs.filter((spec) => spec.name.startsWith('tuning_') && seeds.has(spec.seed))).toEqual([]);
  });
});
