import { familyFigure, intervalFigure, shareErrorFigure, sizeFigure } from '../../../bench/truth/figures.ts';
import { byFamily, reportPage } from '../../../bench/truth/report-page.ts';
import { simulateWorld } from '../../../bench/truth/simulate-world.ts';
import { summaryOfSize, worldsBySize } from '../../../bench/truth/sizes.ts';
import { barsOf, claimedTotal, errorsOf, totalErrorOf, works } from '../../../bench/truth/summary.ts';
import { recordOf } from '../../../bench/truth/world-record.ts';
import type { WorldRecord } from '../../../bench/truth/world-record.ts';
import { withoutEffects } from '../../../bench/truth/world-spec.ts';
import { NO_CHANNEL } from '../../../compute/journey-tables.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import { channel, unpaid, world } from './small-worlds.ts';

const spec = world(
  [
    channel('display', { effect: 0.05 }),
    channel('paid_search', { interestShare: 0.7, closing: 0.5 }),
    channel('video', { effect: 0.03, targeting: 0.5 }),
    unpaid('direct'),
    unpaid('organic_search'),
  ],
  { name: 'first', family: 'plain', propensitySpread: 0.5 },
);
let records: WorldRecord[];
let smaller: WorldRecord[];
beforeAll(async () => {
  records = [
    await recordOf(spec),
    await recordOf({ ...spec, name: 'second', seed: 8 }),
    await recordOf({ ...withoutEffects(spec), name: 'third', family: 'nothing_works', seed: 9 }),
  ];
  smaller = [
    await recordOf({ ...spec, name: 'first_of_2000', users: 2_000 }),
    await recordOf({ ...spec, name: 'second_of_2000', seed: 8, users: 2_000 }),
  ];
});

describe('the record of a world', () => {
  it('holds the truth of the simulation and what every method said, channel by channel', () => {
    const { truth } = simulateWorld(spec);
    const [record] = records;
    expect(record!.channels).toEqual(['display', 'paid_search', 'video']);
    expect(record!.truthTotal).toBe(truth.total.revenue);
    expect(record!.truth).toEqual(truth.switchOff.slice(0, 3).map(({ revenue }) => revenue));
    expect(record!.truth[1]).toBe(0);
    for (const { credit, low, high } of Object.values(record!.estimates)) {
      expect(credit).toHaveLength(3);
      expect(
        credit.every(
          (part, c) =>
            Number.isFinite(part) && (low === undefined || (low[c]! <= part + 0.01 && part <= high![c]! + 0.01)),
        ),
      ).toBe(true);
    }
  });

  it('has the last click that a count of the events finds', () => {
    const { events } = simulateWorld(spec);
    const expected = new Map<number, number>();
    let next = 0;
    for (let user = 0; user < events.userHash.length; user++) {
      let last = NO_CHANNEL;
      let lastS = 0;
      for (let i = events.userStart[user]!; i < events.userStart[user + 1]!; i++) {
        if (events.channel[i] !== NO_CHANNEL) [last, lastS] = [events.channel[i]!, events.timeS[i]!];
        if (events.conversion[i] === 0) continue;
        const value = events.value[next++]!;
        if (last !== NO_CHANNEL && events.timeS[i]! - lastS <= 30 * DAY_S)
          expected.set(last, (expected.get(last) ?? 0) + value);
        last = NO_CHANNEL;
      }
    }
    records[0]!.estimates.last_click.credit.forEach((credit, c) => expect(credit).toBeCloseTo(expected.get(c) ?? 0, 1));
  });
});

describe('the report', () => {
  it('tells every bar, model and world, and shows what was not measured as a dash', () => {
    const page = reportPage(records, smaller);
    for (const { name } of barsOf(records)) expect(page).toContain(name);
    for (const { name } of records) expect(page).toContain(`| ${name} |`);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
    const idle = records.find((record) => !works(record))!;
    expect(page).toContain(`${((100 * claimedTotal(idle, 'last_click')) / idle.revenue).toFixed(1)} %`);
  });

  it('compares the same worlds at every size, and lets the smaller ones count for no bar', () => {
    const sizes = worldsBySize(records, smaller);
    expect(sizes.map((some) => some.map(({ name }) => name))).toEqual([
      ['first_of_2000', 'second_of_2000'],
      ['first', 'second'],
    ]);
    const [least, most] = sizes.map(summaryOfSize);
    expect([least!.users, most!.users]).toEqual([2_000, 5_000]);
    const errors = smaller.map((world) => Math.abs(totalErrorOf(world, 'causal')));
    expect(least!.totalErrorSe).toBeCloseTo(Math.abs(errors[0]! - errors[1]!) / 2, 12);
    expect(most!.errors).toEqual(errorsOf(records.slice(0, 2), 'causal'));
    const page = reportPage(records, smaller);
    expect(page).toContain(`| 2,000 | ${Math.round(least!.orders)} |`);
    const barsIn = (text: string): string =>
      text
        .slice(text.indexOf('## The bars'), text.indexOf('error of the incremental total | ') + 60)
        .replace(/^.*customers.*$/gm, '');
    expect(barsIn(page)).toBe(barsIn(reportPage(records, [])));
    expect(reportPage(records, [])).not.toContain('How many customers');
  });

  it('draws pictures that stand on their own', () => {
    const working = records.filter(works);
    for (const svg of [
      shareErrorFigure(working),
      familyFigure(byFamily(working)),
      intervalFigure(working),
      sizeFigure(worldsBySize(records, smaller)),
    ]) {
      expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      expect(svg).not.toMatch(/NaN|var\(--/);
    }
  });
});
