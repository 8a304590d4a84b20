import { daysBetween } from '../../../../../schema/day-range.ts';
import type { Environment } from '../../../../../schema/principal.ts';
import { parseDateRange, type DateRange } from '../../../../../subgraphs/attribution/intake/data-sources/date-range.ts';

const now = new Date('2026-11-21T10:00:00Z');

const daysIn = ({ start, end }: DateRange): number => daysBetween(start, end);

function codeOf(range: readonly string[], environment: Environment = 'live'): string | undefined {
  try {
    parseDateRange(range, now, environment);
  } catch (error) {
    return (error as { problem: { code: string } }).problem.code;
  }
  return undefined;
}

describe('date range', () => {
  test('both ends are included', () => {
    expect(daysIn(parseDateRange(['2026-01-01', '2026-01-31'], now, 'live'))).toBe(31);
    expect(daysIn(parseDateRange(['2026-11-21', '2026-11-21'], now, 'live'))).toBe(1);
  });

  test.each([
    [['2026-02-01', '2026-01-31'], 'invalid_range'],
    [['2026-02-30', '2026-03-01'], 'invalid_range'],
    [['2026-01-01'], 'invalid_range'],
    [['2026-01-01', '2026-01-02', '2026-01-03'], 'invalid_range'],
    [['01/02/2026', '2026-03-01'], 'invalid_range'],
    [['2026-11-01', '2026-11-22'], 'future_range'],
    [['2024-11-01', '2026-11-20'], 'range_too_long'],
    [['2024-01-01', '2024-01-31'], 'outside_retention'],
  ])('%j is refused as %s', (range, code) => {
    expect(codeOf(range)).toBe(code);
  });

  test('in the sandbox any range is taken that rows may lie in', () => {
    expect(daysIn(parseDateRange(['2000-01-01', '2000-12-31'], now, 'sandbox'))).toBe(366);
    for (const range of [
      ['1999-12-31', '2000-01-31'],
      ['0001-01-01', '0001-12-31'],
    ])
      expect(codeOf(range, 'sandbox')).toBe('outside_retention');
  });

  test('the longest and oldest range that the archive holds is taken', () => {
    expect(daysIn(parseDateRange(['2024-11-21', '2026-11-21'], now, 'live'))).toBe(731);
    expect(codeOf(['2024-11-20', '2026-11-20'])).toBeUndefined();
    expect(codeOf(['2024-11-19', '2026-11-18'])).toBe('outside_retention');
  });
});
