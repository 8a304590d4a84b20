import { isPeriod, monthOf, parsePeriod } from '../../schema/period.ts';

const NOW = new Date('2026-02-14T09:30:00Z');
const shown = (text: string, now = NOW): readonly unknown[] | null => {
  const period = parsePeriod(text, now);
  return period === null ? null : [period.name, period.from?.toISOString(), period.until?.toISOString()];
};
const day = (text: string): string => `${text}T00:00:00.000Z`;

test.each([
  ['2025-12', ['2025-12', day('2025-12-01'), day('2026-01-01')]],
  ['2024-02', ['2024-02', day('2024-02-01'), day('2024-03-01')]],
  ['day', ['2026-02-14', day('2026-02-14'), day('2026-02-15')]],
  ['week', ['2026-W07', day('2026-02-09'), day('2026-02-16')]],
  ['month', ['2026-02', day('2026-02-01'), day('2026-03-01')]],
  ['all', ['all', undefined, undefined]],
])('%s', (text, expected) => {
  expect(shown(text)).toEqual(expected);
});

test('what was answered can be asked for again, at any time', () => {
  for (const text of ['day', 'week', 'month', 'all'])
    expect(shown(String(shown(text)![0]), new Date('2031-07-01T00:00:00Z'))).toEqual(shown(text));
});

// The years that begin or end with a week of another (ISO 8601).
test.each([
  ['2024-12-30T00:00:00Z', '2025-W01'],
  ['2027-01-01T23:59:59Z', '2026-W53'],
  ['2026-12-31T12:00:00Z', '2026-W53'],
  ['2023-01-01T00:00:00Z', '2022-W52'],
  ['2020-12-31T00:00:00Z', '2020-W53'],
])('the week of %s is %s', (moment, name) => {
  const week = parsePeriod('week', new Date(moment))!;
  expect(week.name).toBe(name);
  expect(week.from!.getTime()).toBeLessThanOrEqual(Date.parse(moment));
  expect(week.until!.getTime()).toBeGreaterThan(Date.parse(moment));
});

test.each([
  '',
  '2026',
  '2026-13',
  '2026-00',
  '2026-2',
  '0000-01',
  '9999-12',
  '2025-W53',
  '2026-W00',
  '2026-W54',
  '2026-02-30',
  'Month',
  ' month',
  'month ',
  'year',
  '2026-02-14T00:00:00Z',
  'W07',
])('%j is no period', (text) => {
  expect([parsePeriod(text, NOW), isPeriod(text)]).toEqual([null, false]);
});

test('the month of its first and of its last millisecond', () => {
  expect(monthOf(new Date('2026-02-01T00:00:00.000Z')).name).toBe('2026-02');
  expect(monthOf(new Date('2026-02-28T23:59:59.999Z')).name).toBe('2026-02');
});
