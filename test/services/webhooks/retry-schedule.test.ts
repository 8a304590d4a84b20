import { nextAttemptAt, retryAfterMs } from '../../../services/webhooks/retry-schedule.ts';

const occurred = new Date('2026-01-31T12:00:00Z');

test('the contract’s five waits, then nothing', () => {
  const waits: (number | null)[] = [];
  let failedAt = occurred;
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    const next = nextAttemptAt(attempt, failedAt, 0, occurred);
    waits.push(next === null ? null : (next.getTime() - failedAt.getTime()) / 1000);
    failedAt = next ?? failedAt;
  }
  expect(waits).toEqual([1, 5, 30, 120, 900, null]);
});

test('Retry-After is obeyed where it is longer, within a day of the event', () => {
  expect(nextAttemptAt(1, occurred, 60_000, occurred)).toEqual(new Date('2026-01-31T12:01:00Z'));
  expect(nextAttemptAt(5, occurred, 1_000, occurred)).toEqual(new Date('2026-01-31T12:15:00Z'));
  expect(nextAttemptAt(1, occurred, 23 * 3_600_000, occurred)).toEqual(new Date('2026-02-01T11:00:00Z'));
  expect(nextAttemptAt(1, occurred, 25 * 3_600_000, occurred)).toBeNull();
  expect(nextAttemptAt(2, new Date('2026-02-01T11:59:58Z'), 0, occurred)).toBeNull();
});

test.each([
  [undefined, 0],
  ['120', 120_000],
  ['Sat, 31 Jan 2026 12:00:30 GMT', 30_000],
  ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
  ['soon', 0],
  ['-5', 0],
])('Retry-After: %s', (header, wantedMs) => expect(retryAfterMs(header, occurred)).toBe(wantedMs));
