import type { AttributionReport } from '../../report/attribution-report.ts';
import { escapeHtml } from '../../report/html.ts';
import { htmlReport } from '../../report/html-report.ts';
import { CAUSAL, pathModelReport, TESTS, withChannel, withMembers } from './report-fixture.ts';

const HOSTILE = `"><img src=x onerror=alert(1)></svg><script>alert('&')</script>`;

/** Text between tags, entities undone: what a reader sees. */
const visibleText = (page: string): string =>
  page
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ');
const figures = (page: string): readonly string[] => page.match(/<svg[\s\S]*?<\/svg>/g) ?? [];

/** Length of a channel's bar of credit, in the first plot's units. */
const barOf = (report: AttributionReport, name: string): number => {
  const rows = report.channel_impact
    .filter((channel) => !channel.is_baseline)
    .toSorted((a, b) => b.attributed_revenue - a.attributed_revenue);
  const bars = [
    ...figures(htmlReport(report, 'x'))[0]!.matchAll(
      /<path d="M([\d.]+) [\d.]+L([\d.]+) [\d.]+A[^"]*" fill="var\(--causal\)"/g,
    ),
  ];
  const bar = bars.slice(-rows.length)[rows.findIndex((channel) => channel.channel === name)]!;
  return Number(bar[2]) - Number(bar[1]);
};

describe('the HTML report', () => {
  const page = htmlReport(CAUSAL, 'events.csv');

  test('prints on A4, in the light, without cutting a figure or a row in two', () => {
    expect(page).toMatch(/@page \{ size: A4;/);
    const print = page.slice(page.indexOf('@media print'), page.indexOf('</style>'));
    expect(print).toContain('color-scheme: light');
    expect(print).toMatch(/figure,[^{]*tr \{ break-inside: avoid; \}/);
  });

  test('is one file that loads nothing and runs nothing', () => {
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toMatch(/https?:|\/\/[a-z]|@import|<script|<link|<iframe|\ssrc=/i);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  test('every channel stands in the table, every paid one in each of the three plots', () => {
    for (const { channel } of CAUSAL.channel_impact) expect(page).toContain(`<th scope="row">${channel}</th>`);
    const plots = figures(page);
    expect(plots).toHaveLength(3);
    for (const plot of plots)
      for (const { channel, is_baseline: unpaid } of CAUSAL.channel_impact)
        if (!unpaid) expect(plot).toContain(`>${channel}`);
  });

  test('says what the figures were tested for: what failed, what could not be tried, and what each test found', () => {
    const tested = htmlReport(withMembers({ diagnostics: { ...CAUSAL.diagnostics, tests: TESTS } }), 'x');
    const text = visibleText(tested);
    expect(text).toContain('What these figures were tested for 1 of 2 tests on the data itself passed.');
    expect(text).toContain('✗ direct It would be credited with 12 % of the revenue.');
    expect(text).toContain('– halves of the data The data covers 40 days, and this takes 56.');
    expect(text).toContain('channel held out as if paid no counterpart retargeting 3.0 % direct +12.3 % ✗');
    expect(visibleText(page)).not.toContain('What these figures were tested for');
  });

  test('a channel that does harm has a bar to the left of 0, and is said to take revenue away', () => {
    const harmed = withChannel('video', {
      attributed_revenue: -1500,
      confidence_interval: { lower: -2400, upper: -600, level: 0.95 },
      share: -0.3,
    });
    const harm = htmlReport(harmed, 'x');
    expect(visibleText(harm)).toContain('video takes revenue away: the whole interval lies below 0 (95 % interval');
    expect(visibleText(harm)).not.toContain('video is below break-even');
    const [credit, spend] = figures(harm);
    expect(credit).toContain('-$2K');
    expect(spend).toContain('>video');
    for (const width of harm.matchAll(/width:(-?[\d.]+)%/g)) expect(Number(width[1])).toBeGreaterThanOrEqual(0);
  });

  test('states the headline figures, findings, warnings, weights and the digest', () => {
    const text = visibleText(page);
    for (const part of [
      'Added by marketing $5,198 95 % interval $0 to $8,952 58.1 % of $8,952 revenue',
      'Return on ad spend 3.44× 95 % interval 0.00× to 5.93× for $1,509 spent',
      'Recovered revenue (Delta_R) is $3,076: what the channels that last click under-credits are credited with beyond',
      'It is not on top of the total; all paid channels together are credited with $338 less than by last click.',
      'Last click shows too much of brand_search ($3,806; the interval says at most $3,343).',
      'Whether affiliate earns its cost can’t be told: the interval holds its spend of $200 and an effect of nothing',
      'PRAV: the intervals of all channels reach zero',
      'Shapley 33.8 %',
      'PRAV 66.2 %',
      CAUSAL.diagnostics.run_digest,
      'direct, organic',
    ])
      expect(text).toContain(part);
  });

  test('whatever comes from data is escaped: channel, rule, subject, warning, currency, method', () => {
    const report: AttributionReport = {
      ...withChannel('video', { channel: HOSTILE }),
      comparison: { [HOSTILE]: { [HOSTILE]: 1 } },
      model_breakdown: { [HOSTILE]: { [HOSTILE]: 0.5 } },
      currency: HOSTILE,
      methodology: HOSTILE,
      diagnostics: { ...CAUSAL.diagnostics, warnings: [HOSTILE], run_digest: HOSTILE },
    };
    const hostile = htmlReport(report, HOSTILE);
    expect(hostile).not.toContain('<img');
    expect(hostile).not.toContain('<script');
    expect(hostile.match(/<\/svg>/g)).toHaveLength(3);
    expect(hostile.split(escapeHtml(HOSTILE)).length).toBeGreaterThan(6);
  });

  test('bars are as long as the figures: twice the revenue, twice the bar', () => {
    const halved = withChannel('retargeting', { attributed_revenue: 720.28 });
    expect(barOf(CAUSAL, 'retargeting') / barOf(halved, 'retargeting')).toBeCloseTo(2, 1);
  });

  test('below break-even is said where the whole interval is below the spend', () => {
    const narrow = withChannel('affiliate', { confidence_interval: { lower: -20, upper: 200, level: 0.95 } });
    const text = visibleText(htmlReport(narrow, 'x'));
    expect(text).toContain('affiliate is below break-even: it brings back less than the $200 it costs');
    expect(text).toContain('Below break-even, with the whole interval below the spend: affiliate.');
  });

  test('the plot reaches to where intervals do, below 0, too', () => {
    const harmful = withChannel('email', { confidence_interval: { lower: -900, upper: 1_800, level: 0.95 } });
    expect(figures(htmlReport(harmful, 'x'))[0]).toContain('>-$1K<');
    expect(figures(page)[0]).not.toContain('>-$');
  });

  const weeks = ['2025-01-06', '2025-01-13'].map((period_start, index) => ({
    period_start,
    partial: index === 0,
    revenue: 10,
    baseline_revenue: 1,
    channels: { email: 100 * (index + 1), video: 50, [HOSTILE]: 7, direct: 3 },
  }));
  const campaign = (name: string | null, changes: object = {}) => ({
    channel: 'email',
    campaign: name,
    spend: 10,
    touches: 1234,
    attributed_revenue: 25,
    lastclick_revenue: 5,
    delta_r: 20,
    roi: 1.5,
    roas: 2.5,
    ...changes,
  });

  test('credit over time is drawn where there are times: bars as high as the figures, cut periods marked', () => {
    const page = htmlReport(withMembers({ granularity: 'weekly', time_series: weeks }), 'x');
    const plot = figures(page).find((svg) => svg.includes('Revenue credited to paid channels in 2 periods'))!;
    expect(plot).toContain('>2025-01-06*<');
    expect(plot).toContain('>2025-01-13<');
    const colour =
      CAUSAL.channel_impact
        .filter((channel) => !channel.is_baseline)
        .toSorted((a, b) => b.attributed_revenue - a.attributed_revenue)
        .findIndex(({ channel }) => channel === 'email') + 1;
    const heights = [
      ...plot.matchAll(
        new RegExp(`<path d="M[\\d.]+ ([\\d.]+)l[\\d.]+ 0l0 -([\\d.]+)[^"]*" fill="var\\(--series-${colour}\\)"`, 'g'),
      ),
    ].map((bar) => Number(bar[2]));
    expect(heights.at(-1)! / heights.at(-2)!).toBeCloseTo(2, 1);
    expect(visibleText(page)).toContain(
      'One bar per week, by its first day (UTC). Periods with an asterisk are cut by the range.',
    );
    expect(htmlReport(withMembers({ time_series: weeks.slice(0, 1) }), 'x')).not.toContain('Credit over time');
  });

  test('the last of many periods is named, so that its asterisk is seen', () => {
    const many = Array.from({ length: 27 }, (_, week) => ({
      ...weeks[1]!,
      period_start: new Date(Date.UTC(2025, 0, 6 + 7 * week)).toISOString().slice(0, 10),
      partial: week === 26,
    }));
    expect(htmlReport(withMembers({ granularity: 'weekly', time_series: many }), 'x')).toContain('>2025-07-07*<');
  });

  test('lists the twenty paid campaigns with the most credit, and none where the data names none', () => {
    const campaigns = [
      campaign(HOSTILE),
      campaign(null),
      campaign('organic news', { channel: 'direct' }),
      ...Array.from({ length: 30 }, (_, index) => campaign(`campaign ${index}`)),
    ];
    const page = htmlReport(withMembers({ campaigns }), 'x');
    expect(page).not.toContain('<img');
    expect(visibleText(page)).toContain('(no campaign) email 10.00 1,234 5.00 25.00 2.50×');
    expect(visibleText(page)).toContain('20 with the most, and 12 more in the JSON');
    expect(page).toContain('campaign 17<');
    expect(page).not.toContain('campaign 18<');
    expect(page).not.toContain('organic news');
    expect(htmlReport(withMembers({ campaigns: [campaign(null)] }), 'x')).not.toContain('Campaigns');
  });

  test('no verdict is drawn from the intervals of a model other than causal', () => {
    const sure = { confidence_interval: { lower: 700, upper: 900, level: 0.95 } };
    expect(visibleText(htmlReport(withChannel('email', sure), 'x'))).toContain('email earns more than it costs');
    for (const model of ['shapley', 'prav'])
      expect(visibleText(htmlReport({ ...withChannel('email', sure), model, methodology: model }, 'x'))).toContain(
        'email is credited with $438; whether it earns its cost is not judged here. Ask for the causal model',
      );
  });

  test('a path model claims no cause; intervals that are not there are not drawn', () => {
    const text = visibleText(htmlReport(pathModelReport(), 'paths.csv'));
    expect(text).toContain('What your marketing is credited with');
    expect(text).not.toContain('Whiskers');
    expect(text).toContain('no touch recorded');
  });

  test('says what an experiment measured, and what it did to the credit', () => {
    const experiment = {
      id: 'exp_1',
      channel: 'email',
      method: 'holdout',
      period: ['2025-01-06', '2025-04-05'] as [string, string],
      incremental_revenue: 900,
      standard_error: 120.5,
      overlap: 1,
      model_incremental_revenue_before: 437.84,
      model_incremental_revenue_after: 720.25,
    };
    const text = visibleText(
      htmlReport(withMembers({ diagnostics: { ...CAUSAL.diagnostics, experiments: [experiment] } }), 'events.csv'),
    );
    expect(text).toContain(
      'A holdout experiment measured $900 ± $121 for email here; the model alone credited $438, together they say ' +
        '$720.',
    );
  });

  test.each([
    'markov+shapley+dominance+rwa/prior-weights',
    'markov+shapley+dominance+rwa/prior-weights/calibrated-by-2-experiments',
  ])('a causal result on published weights (%s) claims no cause either, and says why', (methodology) => {
    const text = visibleText(htmlReport(withMembers({ methodology }), 'paths.csv'));
    expect(text).toContain('What your marketing is credited with');
    expect(text).toContain('Credited to marketing');
    expect(text).toContain('a share of what was bought, not what marketing changed');
    expect(text).toContain('Here PRAV could not run');
  });

  test('data without spend, without paid channels or with a hundred of them still makes a page', () => {
    const noSpend = withMembers({
      channel_impact: CAUSAL.channel_impact.map((channel) => ({ ...channel, spend: 0, roas: null, roi: null })),
    });
    expect(figures(htmlReport(noSpend, 'x'))).toHaveLength(2);
    const unpaidOnly = withMembers({
      channel_impact: CAUSAL.channel_impact.filter((channel) => channel.is_baseline),
      model_breakdown: {},
    });
    expect(figures(htmlReport(unpaidOnly, 'x'))).toHaveLength(0);
    const many = withMembers({
      channel_impact: Array.from({ length: 100 }, (_, index) => ({
        ...CAUSAL.channel_impact[0]!,
        channel: `channel ${index}`,
      })),
    });
    const page = htmlReport(many, 'x');
    expect(page).toContain('<th scope="row">channel 99</th>');
    expect(page).toContain('The 76 smallest channels are in the table only.');
  });
});
