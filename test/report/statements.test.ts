import type { AttributionReport, ReportedDesign } from '../../report/attribution-report.ts';
import { WITHOUT_MARGIN } from '../../report/margin.ts';
import { methodSentences } from '../../report/method-section.ts';
import { statementsOf } from '../../report/statements.ts';
import { totalImpact } from '../../report/total-impact.ts';
import { CAUSAL, TESTS, withChannel, withMembers } from './report-fixture.ts';

const stepOf = (report: AttributionReport, name: string) =>
  statementsOf(report).channels.find(({ channel }) => channel === name)!.next;
const interval = (lower: number, upper: number) => ({ confidence_interval: { lower, upper, level: 0.95 } });
const design = (channels: readonly string[], worth: number): ReportedDesign => ({
  channel: channels.join(', '),
  channels,
  method: 'holdout',
  share_held_out: 0.2,
  duration_days: 28,
  smallest_detectable_effect: 100,
  expected_standard_error: 40,
  lost_revenue: 30,
  decision: { current_interval: null, breakeven_revenue: 10, value_of_information: worth },
  rank: 1,
});
const isEmail = ({ channel }: { readonly channel: string }): boolean => channel === 'email';
const designs = (...all: readonly ReportedDesign[]) => ({ power: 0.8, designs: all, warnings: [] });
const tested = { ...CAUSAL.diagnostics, tests: TESTS };

describe('the best next step', () => {
  const open = (found: ReportedDesign): AttributionReport => withMembers({ experiment_designs: designs(found) });

  test('where nothing can be told it is the test of that channel, if that is worth its cost', () => {
    expect(stepOf(open(design(['email'], 900)), 'email')).toEqual({
      kind: 'test',
      text:
        'Keep a random 20 % of the people from it for 28 days. That is expected to lose $30, and deciding by it to ' +
        'be worth $900 more than that in a year.',
    });
    expect(stepOf(open(design(['email'], -5)), 'email').text).toContain('would cost more than it tells');
    expect(stepOf(open(design(['email', 'video'], 900)), 'email').text).toContain('no holdout can be planned');
  });

  test('money moves where the interval says so, and not where a test of the figures failed', () => {
    const pays = withChannel('email', interval(100, 300));
    expect(stepOf(pays, 'email').kind).toBe('raise');
    expect(stepOf({ ...pays, diagnostics: tested }, 'email')).toMatchObject({ kind: 'leave' });
    // A placebo concerns all, whether the channel that was held out is shown or not.
    const restricted = { ...pays, channels: ['email'], channel_impact: pays.channel_impact.filter(isEmail) };
    expect(stepOf({ ...restricted, diagnostics: tested }, 'email').kind).toBe('leave');
    expect(statementsOf(restricted).recovered).toContain('Recovered revenue (Delta_R) of the whole shop is');
    expect(statementsOf(pays).recovered).toContain('Recovered revenue (Delta_R) is');
    expect(
      stepOf({ ...pays, diagnostics: tested, experiment_designs: designs(design(['email'], 9)) }, 'email').kind,
    ).toBe('test');
    expect(stepOf(withChannel('affiliate', interval(-20, 200)), 'affiliate').kind).toBe('lower');
    expect(stepOf(withChannel('video', interval(-20, -2)), 'video').kind).toBe('stop');
    expect(stepOf(withChannel('video', { ...interval(20, 200), spend: 0 }), 'video').kind).toBe('price');
  });

  test.each([
    ['blocking', 'duplicate_orders', 'mend'],
    ['warning', 'order_match_rate', 'mend'],
    ['warning', 'missing_days', 'raise'],
  ] as const)('%s %s: %s', (severity, code, kind) => {
    const check = {
      code,
      severity,
      value: 1,
      threshold: 0.2,
      amount: null,
      currency: null,
      message: 'Many.',
      remedy: 'Do.',
    };
    const found = { ...withChannel('email', interval(100, 300)), data_quality: { status: severity, checks: [check] } };
    expect(stepOf(found, 'email').kind).toBe(kind);
  });

  test('spend without touches is tested by places', () => {
    const reasons = [{ code: 'untracked_spend', message: 'It leaves no touches.' }];
    const untracked = withChannel('video', { identification: { status: 'none', reasons }, confidence_interval: null });
    expect(stepOf(untracked, 'video')).toMatchObject({ kind: 'test' });
    expect(stepOf(untracked, 'video').text).toContain('in some places');
  });
});

describe('the total', () => {
  const paid = CAUSAL.channel_impact.filter(({ is_baseline: isBaseline }) => !isBaseline);
  const experiment = (channels: readonly string[]) => ({
    id: 'exp_1',
    channel: 'all',
    channels,
    method: 'holdout',
    period: ['2025-01-06', '2025-04-05'] as [string, string],
    incremental_revenue: 5_000,
    standard_error: 250,
    overlap: 1,
    model_incremental_revenue_before: 4_000,
    model_incremental_revenue_after: 5_000,
  });
  const measuredOn = (channels: readonly string[]): AttributionReport =>
    withMembers({ diagnostics: { ...CAUSAL.diagnostics, experiments: [experiment(channels)] } });

  test('an experiment on exactly its channels narrows it, one on fewer does not', () => {
    const names = paid.map(({ channel }) => channel);
    const wide = totalImpact(CAUSAL);
    const { revenue, interval: narrow } = totalImpact(measuredOn(names));
    expect(narrow!.lower).toBeCloseTo(revenue - 1.96 * 250, 0);
    expect(narrow!.upper).toBeCloseTo(revenue + 1.96 * 250, 0);
    expect(totalImpact(measuredOn(names.slice(1)))).toEqual(wide);
  });

  test('is never said to be more than was bought', () => {
    expect(totalImpact(CAUSAL).interval!.upper).toBe(CAUSAL.revenue);
  });

  test('leaves out what is not measurable, and its spend', () => {
    const without = withChannel('video', {
      identification: { status: 'none', reasons: [] },
      confidence_interval: null,
      attributed_revenue: 0,
      roas: null,
    });
    const { total, headline } = statementsOf(without);
    expect(total.channels).not.toContain('video');
    expect(total.spend).toBeCloseTo(1_508.88 - 54.78, 2);
    expect(headline.slice(-2)).toEqual(['Not in it, since not measurable: video.', WITHOUT_MARGIN]);
  });

  test('of a result that shows some channels it is that of these', () => {
    expect(statementsOf(withMembers({ channels: paid.map(({ channel }) => channel) })).headline[0]).toMatch(
      /^The paid channels shown are estimated/,
    );
  });
});

describe('the method', () => {
  const withWeights = (weights: Record<string, number>, spend_weight?: Record<string, number>): AttributionReport =>
    withMembers({ diagnostics: { ...CAUSAL.diagnostics, models: { causal: { weights, spend_weight } } } });

  test('names the models that have weight, and says of the others that they have none', () => {
    const text = methodSentences(withWeights({ markov: 0, shapley: 0, prav: 1 })).join(' ');
    expect(text).toContain('All weight is on PRAV. PRAV asks what a touch changes');
    expect(text).not.toContain('Markov asks');
    expect(text).toContain('Markov, Shapley: computed to compare with, without any part in the credit');
  });

  test('says how much of the credit stands on what channels cost', () => {
    const half = Object.fromEntries(CAUSAL.channel_impact.map(({ channel }) => [channel, 0.5]));
    expect(methodSentences(withWeights({ prav: 1 }, half)).join(' ')).toContain('50 % of the credit stands on that');
    expect(methodSentences(withWeights({ prav: 1 })).join(' ')).not.toContain('credit stands on');
  });
});
