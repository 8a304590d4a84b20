import readWorkbook from 'read-excel-file/node';
import type { AttributionReport } from '../../report/attribution-report.ts';
import { htmlReport } from '../../report/html-report.ts';
import { statementsOf } from '../../report/statements.ts';
import { terminalTable } from '../../report/terminal-table.ts';
import { reportWorkbook } from '../../report/workbook.ts';
import { CAUSAL, withChannel, withMembers } from './report-fixture.ts';

const HALF = { margin: 0.5, origin: 'orders' } as const;

/** As a result with that margin has it. */
const atMargin = (report: AttributionReport, profitability: AttributionReport['profitability']): AttributionReport => ({
  ...report,
  ...(profitability !== undefined && { profitability }),
  channel_impact: report.channel_impact.map((channel) => {
    if (channel.is_baseline || profitability === undefined) return channel;
    const earned = profitability.margin * channel.attributed_revenue;
    return {
      ...channel,
      profit: earned - channel.spend,
      profit_interval: null,
      profit_roas: channel.spend > 0 ? earned / channel.spend : null,
    };
  }),
});
const wordsOf = (page: string): string =>
  page
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
const table = (report: AttributionReport, width = 140): string => terminalTable(report, { width, colours: false });
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
const interval = (lower: number, upper: number) => ({ confidence_interval: { lower, upper, level: 0.95 } });

describe('a report with a margin', () => {
  const report = atMargin(CAUSAL, HALF);

  test('says the margin, where it comes from, and the profit of the total', () => {
    const [, profit] = statementsOf(report).headline;
    // 5,198 / 2 − 1,509; 0 / 2 − 1,509 to 8,952 / 2 − 1,509.
    expect(profit).toBe(
      'At a margin of 50 % (by what the goods of the orders cost) that is a profit of $1,090 (95 % interval -$1,509 ' +
        'to $2,967); profit ROAS 1.72× (0.00× to 2.97×).',
    );
    expect(statementsOf(atMargin(CAUSAL, { margin: 0.1234, origin: 'setting' })).headline[1]).toContain(
      'At a margin of 12.34 % (that of the source)',
    );
    expect(statementsOf(atMargin(CAUSAL, { margin: 1, origin: 'request' })).headline[1]).toContain(
      'At a margin of 100 % (stated for this analysis)',
    );
  });

  test('a channel that brings more than its spend may be below break-even', () => {
    const brings = withChannel('affiliate', interval(210, 390));
    expect(statementsOf(brings).channels.find(({ channel }) => channel === 'affiliate')).toMatchObject({
      verdict: 'pays',
      sentence: expect.stringContaining('it brings more than the $200 it costs (95 % interval $210 to $390)'),
    });
    expect(statementsOf(atMargin(brings, HALF)).channels.find(({ channel }) => channel === 'affiliate')).toMatchObject({
      verdict: 'loses',
      sentence:
        'affiliate is below break-even: it brings back less than its break-even of $400 (95 % interval $210 to $390).',
      next: { kind: 'lower' },
    });
    expect(statementsOf(atMargin(brings, { ...HALF, margin: 0.6 })).channels.at(-1)).toMatchObject({
      verdict: 'open',
      sentence: expect.stringContaining('the interval holds its break-even of $334 (95 %'),
    });
  });

  test('tables, chart and workbook have profit and profit ROAS', async () => {
    const affiliate = CAUSAL.channel_impact.find(({ channel }) => channel === 'affiliate')!;
    const [earned, { spend }] = [affiliate.attributed_revenue / 2, affiliate];
    expect(table(report)).toMatch(/ROAS +profit +profit ROAS/);
    expect(flat(table(report))).toMatch(/all marketing .* 3\.44 1,089\.88 1\.72 /);
    const page = htmlReport(report, 'x');
    const words = wordsOf(page);
    expect(words).toContain('ROAS profit profit ROAS confidence');
    expect(words).toContain(`${(earned - spend).toFixed(2)} ${(earned / spend).toFixed(2)}×`);
    expect(words).toContain('Profit $1,090 95 % interval -$1,509 to $2,967 profit ROAS 1.72× margin 50 %');
    expect(words).toContain('break-even and profit at a margin of 50 % (by what the goods of the orders cost)');
    expect(words).toContain('profit ROAS 2 profit ROAS 4');
    expect(words).toContain('The number beside a name is its profit ROAS.');
    const sheets = await readWorkbook(await reportWorkbook(report, 'x'));
    const [head, ...rows] = sheets.find(({ sheet }) => sheet === 'Channels')!.data;
    const row = rows.find(([name]) => name === 'affiliate')!;
    expect([row[head!.indexOf('profit')], row[head!.indexOf('profit ROAS')]]).toEqual([earned - spend, earned / spend]);
  });

  test('break-even is drawn where the margin puts it: twice as steep at half of the revenue', () => {
    const slope = (given: AttributionReport): number => {
      const plot = htmlReport(given, 'x').match(/<svg[\s\S]*?<\/svg>/g)![1]!;
      const [, x0, y0, x1, y1] = /<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)" [^>]*stroke-width="1.4"/.exec(plot)!;
      return (Number(y0) - Number(y1)) / (Number(x1) - Number(x0));
    };
    expect(slope(report) / slope(CAUSAL)).toBeCloseTo(2, 1);
  });

  test('in a narrow terminal ROAS of revenue goes first', () => {
    const narrow = table(report, 100);
    expect(narrow).toContain('profit ROAS');
    expect(narrow.split('\n').some((line) => /^channel .*[^t] ROAS/.test(line))).toBe(false);
  });
});

describe('a report without a margin', () => {
  const once = (text: string): number => text.split('at a margin of 100 %').length - 1;

  test('says once that revenue is held against spend whole, and how to say the margin', () => {
    expect(once(wordsOf(htmlReport(CAUSAL, 'x')))).toBe(1);
    expect(once(flat(table(CAUSAL)))).toBe(1);
    expect(flat(table(CAUSAL))).toContain('--margin on the command line, or a column cogs of the orders.');
    expect(table(CAUSAL)).not.toMatch(/profit ROAS/);
    expect(wordsOf(htmlReport(CAUSAL, 'x'))).toContain('ROAS confidence');
  });

  test('says nothing of it where no spend is recorded', () => {
    const free = withMembers({
      channel_impact: CAUSAL.channel_impact.map((channel) => ({ ...channel, spend: 0, roas: null, roi: null })),
    });
    expect(once(flat(table(free)))).toBe(0);
    const margin = flat(table(atMargin(free, HALF)));
    expect(margin).not.toContain('that is a profit of');
  });
});
