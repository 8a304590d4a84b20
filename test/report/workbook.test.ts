import readWorkbook from 'read-excel-file/node';
import type { AttributionReport } from '../../report/attribution-report.ts';
import { creditRows } from '../../report/credit-rows.ts';
import { statementsOf } from '../../report/statements.ts';
import { reportWorkbook } from '../../report/workbook.ts';
import { CAUSAL, pathModelReport, withChannel, withMembers } from './report-fixture.ts';

type Rows = readonly (readonly unknown[])[];

const sheetsOf = async (report: AttributionReport): Promise<Readonly<Record<string, Rows>>> =>
  Object.fromEntries(
    (await readWorkbook(await reportWorkbook(report, 'events.csv'))).map(({ sheet, data }) => [sheet, data]),
  );

describe('the workbook', () => {
  test('has the figures of the table as numbers, to the cent', async () => {
    const { Channels: rows } = await sheetsOf(CAUSAL);
    expect(rows!.slice(1).map((row) => row.slice(0, 7))).toEqual(
      creditRows(CAUSAL).map(({ label, kind, spend, lastClick, credited, interval }) => [
        label,
        kind,
        spend,
        lastClick,
        credited,
        interval?.lower ?? null,
        interval?.upper ?? null,
      ]),
    );
  });

  test('says what the page says', async () => {
    const { Summary: summary, Statements: statements } = await sheetsOf(CAUSAL);
    const said = statementsOf(CAUSAL);
    const sentences = summary!.map(([first]) => first);
    expect(sentences[0]).toBe('events.csv');
    for (const sentence of [...said.headline, ...said.groups.map(({ text }) => text), said.recovered])
      expect(sentences).toContain(sentence);
    expect(statements!.slice(1).map(([channel, , why, next]) => [channel, why, next])).toEqual(
      said.channels.map(({ channel, sentence, next }) => [channel, sentence, next.text]),
    );
  });

  test('claims no figure of a channel that is not measurable', async () => {
    const report = withChannel('email', {
      attributed_revenue: 0,
      confidence_interval: null,
      identification: { status: 'none', reasons: [{ code: 'too_few_exposures', message: 'Too few people.' }] },
    });
    const period = { period_start: '2026-01-01', partial: false, revenue: 10, baseline_revenue: 7 };
    const { Channels: rows, Periods: periods } = await sheetsOf({
      ...report,
      time_series: [{ ...period, channels: { email: 0, video: 3 } }],
    });
    expect(periods![0]).toContain('video');
    expect(periods![0]).not.toContain('email');
    const email = rows!.find(([name]) => name === 'email')!;
    expect([email[4], email[5], email[6], email[9]]).toEqual(['not measurable', null, null, 'none']);
  });

  test('holds periods and campaigns where there are any', async () => {
    const plain = await sheetsOf(withMembers({ time_series: null, campaigns: null }));
    expect(Object.keys(plain)).toEqual(['Summary', 'Statements', 'Channels']);
    const whole = await sheetsOf(
      withMembers({
        time_series: [
          { period_start: '2026-01-01', partial: true, revenue: 10, baseline_revenue: 7, channels: { email: 3 } },
        ],
        campaigns: [
          {
            channel: 'email',
            campaign: 'spring',
            spend: 1,
            touches: 4,
            attributed_revenue: 3,
            lastclick_revenue: 2,
            delta_r: 1,
            roi: 2,
            roas: 3,
          },
        ],
      }),
    );
    expect(whole['Periods']![1]!.slice(0, 4)).toEqual(['2026-01-01', 'yes', 10, 7]);
    expect(whole['Periods']![1]![whole['Periods']![0]!.indexOf('email')]).toBe(3);
    expect(whole['Campaigns']![1]).toEqual(['email', 'spring', 1, 4, 3, 2, 3]);
  });

  test('any name survives, none is a formula, and what XML cannot hold is left out', async () => {
    const names = ['=HYPERLINK("http://x")', '+1', "<b>&'", '検索 📣', 'a\u0000b\uD800c', 'x'.repeat(40_000)];
    const report = withMembers({
      channel_impact: names.map((channel, index) => ({ ...CAUSAL.channel_impact[index]!, channel })),
    });
    const { Statements: rows } = await sheetsOf(report);
    const kept = [...names.slice(0, 4), 'abc', 'x'.repeat(32_767)];
    for (const name of rows!.slice(1).map(([first]) => first)) expect(kept).toContain(name);
    expect(rows!.length).toBeGreaterThan(1);
    const bytes = await reportWorkbook(report, '=1+1');
    expect((await readWorkbook(bytes))[0]!.data[0]![0]).toBe('=1+1');
  });

  test('a path model has one too', async () => {
    const { Channels: rows } = await sheetsOf(pathModelReport());
    expect(rows![0]![4]).toBe('shapley');
  });
});
