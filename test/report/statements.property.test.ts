import fc from 'fast-check';
import type { AttributionReport, ReportedChannel } from '../../report/attribution-report.ts';
import { htmlReport } from '../../report/html-report.ts';
import { WITHOUT_MARGIN } from '../../report/margin.ts';
import { statementsOf } from '../../report/statements.ts';
import { terminalTable } from '../../report/terminal-table.ts';
import { CAUSAL, TESTS, withMembers } from './report-fixture.ts';

/* Of random results no sentence contradicts the interval, or the identification, that it is drawn from. */

const RUNS = 2_000;
const EDGES = [0, 0.01, -0.01, 100, 1_000];
const money = fc.oneof(
  fc.integer({ min: -500_000, max: 500_000 }).map((cents) => cents / 100),
  fc.constantFrom(...EDGES),
);
const spend = fc.oneof(
  fc.integer({ min: 0, max: 500_000 }).map((cents) => cents / 100),
  fc.constantFrom(...EDGES.filter((amount) => amount >= 0)),
);

const channel = (name: string): fc.Arbitrary<ReportedChannel> =>
  fc
    .record({
      ends: fc.tuple(money, money).map((ends) => ends.toSorted((a, b) => a - b)),
      spend,
      shown: spend,
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      status: fc.constantFrom('point' as const, 'partial' as const, 'none' as const),
      hasInterval: fc.constantFrom(true, true, true, false),
    })
    .map(({ ends, spend: cost, shown, at, status, hasInterval }): ReportedChannel => {
      const [lower, upper] = ends as [number, number];
      const credit = status === 'none' ? 0 : Math.round(100 * (lower + at * (upper - lower))) / 100;
      return {
        ...CAUSAL.channel_impact[0]!,
        channel: name,
        is_baseline: false,
        spend: cost,
        attributed_revenue: credit,
        lastclick_revenue: shown,
        delta_r: credit - shown,
        roas: status === 'none' || cost === 0 ? null : credit / cost,
        confidence_interval: status === 'none' || !hasInterval ? null : { lower, upper, level: 0.95 },
        identification: { status, reasons: status === 'point' ? [] : [{ code: 'ids_split', message: 'Because.' }] },
      };
    });

/** The figures that a margin brings to a channel, from its credit and its spend. */
const withProfit = (its: ReportedChannel, margin: number): ReportedChannel => {
  if (its.identification?.status === 'none') return { ...its, profit: null, profit_interval: null, profit_roas: null };
  const { spend: cost, attributed_revenue: credit, confidence_interval: i } = its;
  return {
    ...its,
    profit: margin * credit - cost,
    profit_interval: i === null ? null : { ...i, lower: margin * i.lower - cost, upper: margin * i.upper - cost },
    profit_roas: cost === 0 ? null : (margin * credit) / cost,
  };
};
const profitability = fc.option(
  fc.record({
    margin: fc.oneof(
      fc.integer({ min: 1, max: 10_000 }).map((parts) => parts / 10_000),
      fc.constant(1),
    ),
    origin: fc.constantFrom('orders' as const, 'setting' as const, 'request' as const),
  }),
  { nil: undefined },
);

const quality = fc.constantFrom(undefined, 'good' as const, 'warning' as const, 'blocking' as const);
const report: fc.Arbitrary<AttributionReport> = fc
  .record({
    channels: fc
      .integer({ min: 0, max: 6 })
      .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => channel(`channel_${index}`)))),
    model: fc.constantFrom('causal', 'causal', 'causal', 'prav', 'shapley'),
    isPrior: fc.constantFrom(false, false, false, true),
    quality,
    tests: fc.constantFrom(undefined, TESTS),
    net: money,
    profitability,
  })
  .map(({ channels, model, isPrior, quality: status, tests, net, profitability: stated }) =>
    withMembers({
      model,
      methodology: isPrior ? 'markov+shapley/prior-weights' : 'prav/stacked-on-placebo-adjusted-lift',
      ...(stated !== undefined && { profitability: stated }),
      channel_impact: [
        ...(stated === undefined ? channels : channels.map((its) => withProfit(its, stated.margin))),
        ...CAUSAL.channel_impact.filter(({ is_baseline: isBaseline }) => isBaseline),
      ],
      revenue: 1_000_000,
      delta_r_net_cents: Math.round(net * 100),
      ...(status !== undefined && {
        data_quality: {
          status,
          checks:
            status === 'good'
              ? []
              : [
                  {
                    code: 'order_match_rate',
                    severity: status,
                    value: 0.2,
                    threshold: 0.7,
                    amount: null,
                    currency: null,
                    message: 'Few match.',
                    remedy: 'Send ids.',
                  },
                ],
        },
      }),
      diagnostics: { ...CAUSAL.diagnostics, ...(tests !== undefined && { tests }), warnings: [] },
    }),
  );

/** What the words of a sentence claim, read from the words alone. */
const CLAIMS: readonly (readonly [words: RegExp, holds: (given: ReportedChannel, breakEven: number) => boolean])[] = [
  [
    /earns? more than|earning more than/i,
    ({ spend: cost, confidence_interval: i }, breakEven) => i !== null && cost > 0 && i.lower > breakEven,
  ],
  [/below break-even/i, ({ confidence_interval: i }, breakEven) => i !== null && i.upper < breakEven],
  [/takes? revenue away|taking revenue away/i, ({ confidence_interval: i }) => i !== null && i.upper < 0],
  [
    /adds revenue|adding revenue/i,
    ({ spend: cost, confidence_interval: i }) => i !== null && cost === 0 && i.lower > 0,
  ],
  [/not measurable/i, ({ identification }) => identification?.status === 'none'],
  [
    /holds its (spend|break-even)/i,
    ({ confidence_interval: i }, breakEven) => i !== null && i.lower <= breakEven && breakEven <= i.upper,
  ],
  [/an effect of nothing/i, ({ confidence_interval: i }) => i !== null && i.lower <= 0 && i.upper >= 0],
];
/** Verdicts that the causal model alone may speak, of rows that are good enough. */
const SURE = /earns? more than|earning more than|below break-even|revenue away|adds revenue|adding revenue/i;

test('no sentence of a random result contradicts its interval or its identification', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(report, (given) => {
      const said = statementsOf(given);
      const judged = given.model === 'causal' && !given.methodology.includes('prior-weights');
      const sound = given.data_quality?.status !== 'blocking';
      const breakEven = (cost: number): number => cost / (given.profitability?.margin ?? 1);
      const byName = new Map(given.channel_impact.map((each) => [each.channel, each]));
      for (const statement of said.channels) {
        seen.add(statement.verdict);
        const its = byName.get(statement.channel)!;
        for (const [words, holds] of CLAIMS)
          if (words.test(statement.sentence))
            expect([statement, holds(its, breakEven(its.spend))]).toEqual([statement, true]);
        if (given.profitability !== undefined) expect(statement.sentence).not.toContain('its spend');
        if (!judged || !sound) expect(statement.sentence).not.toMatch(SURE);
        // Nothing that can be told is withheld.
        if (judged && sound && its.confidence_interval !== null && its.confidence_interval.upper < 0)
          expect(statement.sentence).toMatch(/takes revenue away/);
        // Money moves only where the interval lets it.
        const { lower, upper } = its.confidence_interval ?? { lower: -Infinity, upper: Infinity };
        if (statement.next.kind === 'raise') expect(lower).toBeGreaterThan(breakEven(its.spend));
        if (statement.next.kind === 'lower') expect(upper).toBeLessThan(breakEven(its.spend));
        // A channel that earns its cost makes a profit, and one that does not a loss, wherever there is a margin.
        const profit = its.profit_interval ?? null;
        if (statement.verdict === 'pays' && profit !== null) expect(profit.lower).toBeGreaterThan(-1e-9);
        if (statement.verdict === 'loses' && profit !== null) expect(profit.upper).toBeLessThan(1e-9);
        if (statement.next.kind === 'stop') expect(upper).toBeLessThan(0);
        if (['raise', 'lower', 'stop'].includes(statement.next.kind)) {
          expect([judged, sound]).toEqual([true, true]);
          expect(given.diagnostics.tests).toBeUndefined();
        }
        if (!sound) expect(statement.next.kind).toBe('mend');
      }
      for (const { text, channels } of said.groups)
        for (const name of channels)
          for (const [words, holds] of CLAIMS)
            if (words.test(text))
              expect([text, holds(byName.get(name)!, breakEven(byName.get(name)!.spend))]).toEqual([text, true]);
      expect(said.groups.flatMap(({ channels }) => channels).toSorted()).toEqual(
        said.channels.map(({ channel: name }) => name).toSorted(),
      );
      // Last click is called wrong only outside of an interval.
      for (const sentence of said.lastClick)
        for (const [, name, amount] of sentence.matchAll(/(channel_\d) \(([^;]+);/g)) {
          const its = byName.get(name!)!;
          expect(amount).toBeTruthy();
          if (sentence.includes('too much'))
            expect(its.lastclick_revenue).toBeGreaterThan(its.confidence_interval!.upper);
          else expect(its.lastclick_revenue).toBeLessThan(its.confidence_interval!.lower);
        }
    }),
    { numRuns: RUNS },
  );
  // The sentences were tried, not only the doubtful ones.
  expect([...seen].toSorted()).toEqual(['adds', 'harms', 'loses', 'open', 'pays', 'unjudged', 'unmeasured']);
});

test('of a random result the total is the sum of what can be measured, and its sentences follow its interval', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(report, (given) => {
      const { total, headline } = statementsOf(given);
      seen.add(total.verdict);
      const measured = given.channel_impact.filter(
        ({ is_baseline: isBaseline, identification }) => !isBaseline && identification?.status !== 'none',
      );
      const sum = (of: (each: ReportedChannel) => number): number => measured.reduce((all, each) => all + of(each), 0);
      expect(total.revenue).toBeCloseTo(
        sum((each) => each.attributed_revenue),
        1,
      );
      expect(total.spend).toBeCloseTo(
        sum((each) => each.spend),
        1,
      );
      const text = headline.join(' ');
      if (total.interval !== null) {
        const { lower, upper } = total.interval;
        expect(measured.every(({ confidence_interval: interval }) => interval !== null)).toBe(true);
        expect(lower).toBeCloseTo(
          sum((each) => each.confidence_interval!.lower),
          1,
        );
        expect(upper).toBeCloseTo(
          sum((each) => each.confidence_interval!.upper),
          1,
        );
        if (total.spend > 0) {
          expect(total.roasInterval!.lower * total.spend).toBeCloseTo(lower, 4);
          expect(total.roasInterval!.upper * total.spend).toBeCloseTo(upper, 4);
        }
        const breakEven = total.spend / (given.profitability?.margin ?? 1);
        if (text.includes('earn more than')) expect(lower).toBeGreaterThan(breakEven);
        if (text.includes('below break-even')) expect(upper).toBeLessThan(breakEven);
        if (text.includes('take revenue away')) expect(upper).toBeLessThan(0);
      } else expect(text).not.toMatch(/earn more than|below break-even|take revenue away|add revenue/);
      // What revenue is held against is said once, wherever it is held against anything.
      const isHeld = measured.length > 0 && total.spend > 0;
      expect(headline.filter((sentence) => sentence === WITHOUT_MARGIN)).toHaveLength(
        isHeld && given.profitability === undefined ? 1 : 0,
      );
      const profits = headline.filter((sentence) => /^At a margin of .* that is a profit of /.test(sentence));
      expect(profits).toHaveLength(isHeld && given.profitability !== undefined ? 1 : 0);
      if (!text.includes('estimated to have added'))
        expect(given.model === 'shapley' || given.methodology.includes('prior') || measured.length === 0).toBe(true);
    }),
    { numRuns: RUNS },
  );
  expect(seen).toEqual(new Set(['adds', 'harms', 'loses', 'open', 'pays', 'unjudged', 'unmeasured']));
});

test('page and terminal show the sentences of the statements, whole', () => {
  fc.assert(
    fc.property(report, (given) => {
      const said = statementsOf(given);
      const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
      const page = flat(htmlReport(given, 'x').replaceAll('&#39;', "'"));
      const table = flat(terminalTable(given, { width: 120, colours: false }));
      for (const { sentence, next } of said.channels) {
        expect(page).toContain(sentence);
        expect(page).toContain(next.text);
        expect(table).toContain(next.text);
      }
      for (const text of [
        ...said.headline,
        ...said.groups.map((group) => group.text),
        ...said.lastClick,
        said.recovered,
      ]) {
        expect(page).toContain(text);
        expect(table).toContain(text);
      }
    }),
    { numRuns: 20 },
  );
});
