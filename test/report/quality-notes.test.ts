import type { ReportedQuality } from '../../report/attribution-report.ts';
import { htmlReport } from '../../report/html-report.ts';
import { qualityNotes } from '../../report/quality-notes.ts';
import { terminalTable } from '../../report/terminal-table.ts';
import { CAUSAL, withMembers } from './report-fixture.ts';

const check = (severity: 'info' | 'warning' | 'blocking', message: string): ReportedQuality['checks'][number] => ({
  code: 'rejected_revenue',
  severity,
  value: 0.5,
  threshold: 0.1,
  amount: 1,
  currency: 'USD',
  message,
  remedy: 'Mend the file.',
});
const withChecks = (...checks: ReportedQuality['checks']) =>
  withMembers({ data_quality: { status: checks[0]!.severity === 'blocking' ? 'blocking' : 'warning', checks } });

test('warnings and what was accepted are lines ahead of the table; what is only so is not', () => {
  const report = withChecks(check('blocking', 'Half is lost.'), check('warning', 'Days lack.'), check('info', 'So.'));
  expect(qualityNotes(report)).toEqual([
    'Not good enough, accepted (rejected_revenue): Half is lost. Mend the file.',
    'Data quality (rejected_revenue): Days lack. Mend the file.',
  ]);
  const lines = terminalTable(report, { width: 120, colours: false }).split('\n');
  expect(lines.slice(0, 4)).toEqual([
    '! Not good enough, accepted (rejected_revenue): Half is lost. Mend the file.',
    '! Data quality (rejected_revenue): Days lack. Mend the file.',
    '',
    expect.stringMatching(/^causal attribution/),
  ]);
});

test('the page says the same ahead of its figures, and what is only so beside the method', () => {
  const page = htmlReport(withChecks(check('warning', 'Days <lack>.'), check('info', 'None refunded.')), 'shop');
  const places = [
    'What the data lacks',
    'Days &lt;lack&gt;.',
    'class="tiles"',
    'How the figures came',
    'None refunded.',
  ];
  const found = places.map((text) => page.indexOf(text));
  expect(found).not.toContain(-1);
  expect(found).toEqual(found.toSorted((a, b) => a - b));
});

test('nothing is said of good rows, or where nobody measured', () => {
  for (const report of [CAUSAL, withMembers({ data_quality: { status: 'good', checks: [] } })]) {
    expect(qualityNotes(report)).toEqual([]);
    expect(htmlReport(report, 'shop')).not.toContain('What the data lacks');
  }
});
