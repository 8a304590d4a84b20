import type { AttributionReport, ReportedTest } from './attribution-report.ts';

/** What each test is called in a table. */
export const TEST_NAMES: Readonly<Record<string, string>> = {
  held_out_placebo: 'held out as if paid',
  lead: 'visits before it',
  horizon_halved: 'half the horizon',
  horizon_doubled: 'twice the horizon',
  window_halves: 'halves of the data',
  overlap: 'no counterpart',
};

/** Failed tests of one kind, and those that could not be made. */
export interface TestNote {
  readonly status: 'fail' | 'not_applicable';
  /** Empty where it concerns all. */
  readonly channels: readonly string[];
  readonly code: string;
  readonly message: string;
}

/** One note per message, in the order of the tests; failed ones first. */
export function testNotes({ diagnostics: { tests = [] } }: AttributionReport): readonly TestNote[] {
  const notes = new Map<
    string,
    { status: 'fail' | 'not_applicable'; channels: string[]; code: string; message: string }
  >();
  for (const status of ['fail', 'not_applicable'] as const)
    for (const test of tests) {
      if (test.status !== status) continue;
      const key = `${test.code} ${test.message}`;
      const note = notes.get(key) ?? { status, channels: [], code: test.code, message: test.message };
      if (test.channel !== null) note.channels.push(test.channel);
      notes.set(key, note);
    }
  return [...notes.values()];
}

/** How many were made, and how many of these failed. */
export function testCounts({ diagnostics: { tests = [] } }: AttributionReport): {
  readonly made: number;
  readonly failed: number;
} {
  return {
    made: tests.filter(({ status }) => status !== 'not_applicable').length,
    failed: tests.filter(({ status }) => status === 'fail').length,
  };
}

/** What a test found, in its unit: visits per touch, or a part of the revenue or of the people. */
export function foundBy({ code, estimate }: ReportedTest): string {
  if (estimate === null) return '–';
  const size = code === 'lead' ? Math.abs(estimate).toFixed(2) : `${(100 * Math.abs(estimate)).toFixed(1)} %`;
  const isNothing = Number.parseFloat(size) === 0;
  return `${isNothing || code === 'overlap' ? '' : estimate < 0 ? '−' : '+'}${size}`;
}
