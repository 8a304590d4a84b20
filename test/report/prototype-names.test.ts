import { htmlReport } from '../../report/html-report.ts';
import { CAUSAL, withMembers } from './report-fixture.ts';

/** Members that every object has. As names they are as good as any others. */
const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'] as const;

/** The report with its channels called like this. */
const renamed = (names: readonly string[]) => {
  const now = new Map(CAUSAL.channel_impact.map(({ channel }, index) => [channel, names[index] ?? channel]));
  const byName = <T>(figures: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(figures).map(([channel, figure]) => [now.get(channel) ?? channel, figure]));
  return withMembers({
    channel_impact: CAUSAL.channel_impact.map((each) => ({ ...each, channel: now.get(each.channel)! })),
    comparison: Object.fromEntries(
      Object.entries(CAUSAL.comparison).map(([model, credits]) => [model, byName(credits)]),
    ),
    time_series: CAUSAL.time_series?.map((period) => ({ ...period, channels: byName(period.channels) })) ?? null,
  });
};

/** Charts are numbered in the order in which a process draws them. */
const withoutNumbers = (page: string): string => page.replaceAll(/\bzr\d+-(cls-)?c?\d+/g, '');

describe('channels that are called like members of every object', () => {
  const members = Object.getOwnPropertyNames(Object.prototype).toString();

  test('change no object of the process, and are drawn like all others', () => {
    const page = htmlReport(renamed(NAMES), 'x');
    // What follows makes objects: what a page leaves on all of them has to go first.
    const left = Object.getOwnPropertyNames(Object.prototype).toString();
    for (const name of ['prev', 'next', 'value', 'key']) Reflect.deleteProperty(Object.prototype, name);
    expect(left).toBe(members);
    for (const name of NAMES) expect(page).toContain(`>${name}`);
    expect(page).not.toContain('NaN');
  });

  test('leave the pages of others as they are', () => {
    const before = htmlReport(CAUSAL, 'x');
    htmlReport(renamed([...NAMES, `__proto__${'m'.repeat(60)}`]), 'x');
    for (const name of ['prev', 'next', 'value', 'key']) Reflect.deleteProperty(Object.prototype, name);
    expect(withoutNumbers(htmlReport(CAUSAL, 'x'))).toBe(withoutNumbers(before));
  });
});
