import * as fc from 'fast-check';
import { htmlReport } from '../../report/html-report.ts';
import { terminalTable } from '../../report/terminal-table.ts';
import { displayWidth, printable, truncate, wrap } from '../../report/terminal-text.ts';
import { CAUSAL, TESTS, pathModelReport, withChannel, withMembers } from './report-fixture.ts';

const wide = { width: 120, colours: false };
const lineOf = (table: string, label: string): string => table.split('\n').find((line) => line.startsWith(label))!;
const cells = (line: string): readonly string[] => line.split(/ {3,}/);

describe('the terminal table', () => {
  test('has a row per paid channel, most credited first, then marketing, baseline and total', () => {
    const table = terminalTable(CAUSAL, wide).split('\n');
    const labels = table
      .slice(4)
      .map((line) => line.split(/ {2,}/)[0])
      .filter((label) => label !== '' && !label!.startsWith('─'));
    expect(labels.slice(0, 11)).toEqual([
      'retargeting',
      'paid_search',
      'brand_search',
      'display',
      'email',
      'social',
      'video',
      'affiliate',
      'all marketing',
      'baseline',
      'total',
    ]);
  });

  test('says what is known in part, what cannot be measured, and why', () => {
    const unknown = {
      attributed_revenue: 0,
      roas: null,
      roi: null,
      confidence: 0,
      confidence_interval: null,
      identification: { status: 'none', reasons: [{ code: 'untracked_spend', message: 'It leaves no touches.' }] },
    } as const;
    const inPart = {
      identification: { status: 'partial', reasons: [{ code: 'reactive_targeting', message: 'It follows visits.' }] },
    } as const;
    const { channel_impact: channels } = withChannel('video', unknown);
    const report = withMembers({
      channel_impact: channels.map((each) => (each.channel === 'retargeting' ? { ...each, ...inPart } : each)),
    });
    const table = terminalTable(report, wide);
    expect(cells(lineOf(table, 'video')).slice(3)).toEqual(['not measurable', '–', '–', '–']);
    expect(cells(lineOf(table, 'retargeting'))[3]).toMatch(/^≈ \d/);
    expect(table).toContain('· retargeting: It follows visits.');
    expect(table).toContain('· video: It leaves no touches.');
    // Spend that cannot be measured is no part of the return on all spend.
    const paid = report.channel_impact.filter((each) => !each.is_baseline && each.channel !== 'video');
    const sum = (of: (channel: (typeof paid)[number]) => number) => paid.reduce((total, each) => total + of(each), 0);
    expect(cells(lineOf(table, 'all marketing'))[5]).toBe(
      (sum((each) => each.attributed_revenue) / sum((each) => each.spend)).toFixed(2),
    );
  });

  test('names the tests that failed, and counts the others', () => {
    const table = terminalTable(withMembers({ diagnostics: { ...CAUSAL.diagnostics, tests: TESTS } }), wide);
    expect(table).toContain('1 of 2 tests of these figures passed.');
    expect(table).toContain('✗ direct: It would be credited with 12 % of the revenue.');
    expect(table).not.toContain('Nearly all have counterparts.');
    expect(terminalTable(CAUSAL, wide)).not.toContain('tests of these figures');
  });

  test('shows spend, last click, credit, interval, ROAS and confidence of a channel', () => {
    const table = terminalTable(CAUSAL, wide);
    expect(cells(lineOf(table, 'channel'))).toEqual([
      'channel',
      'spend',
      'last click',
      'causal revenue',
      '95 % interval',
      'ROAS',
      'confidence',
    ]);
    expect(cells(lineOf(table, 'brand_search'))).toEqual([
      'brand_search',
      '102.02',
      '3,805.79',
      '929.40',
      '0 … 3,343',
      '9.11',
      '0.60',
    ]);
    expect(cells(lineOf(table, 'baseline'))).toEqual(['baseline', '–', '3,416.59', '3,754.70', '–', '–', '–']);
    expect(cells(lineOf(table, 'total'))).toEqual(['total', '1,508.88', '8,952.22', '8,952.22', '–', '–', '–']);
  });

  test('names period, model, Delta_R and every warning', () => {
    const report = withMembers({ diagnostics: { ...CAUSAL.diagnostics, warnings: ['first thing', 'second thing'] } });
    const table = terminalTable(report, wide);
    expect(table).toContain('causal attribution · 2025-01-06 to 2025-04-05 · USD · 145 orders');
    expect(table).toContain('Recovered revenue (Delta_R) is $3,076:');
    expect(table).toContain('! first thing');
    expect(table).toContain('! second thing');
  });

  test('says who was taken for whom, where files say it', () => {
    const stitching = { pairs: 1_200, people: 600, user_match_rate: 0, stitched_user_match_rate: 0.9155 };
    const said =
      'Identities: 1,200 pairs of ids make 600 people. 91.6 % of those who bought have touches, 0 % by the ids of ' +
      'the files alone.';
    const stitched = withMembers({ diagnostics: { ...CAUSAL.diagnostics, stitching } });
    expect(terminalTable(stitched, { width: 200, colours: false })).toContain(said);
    expect(htmlReport(stitched, 'a shop')).toContain(said);
    const without = { ...stitching, user_match_rate: null, stitched_user_match_rate: null };
    expect(
      terminalTable(withMembers({ diagnostics: { ...CAUSAL.diagnostics, stitching: without } }), {
        width: 200,
        colours: false,
      }),
    ).toMatch(/make 600 people\.\n/);
    expect(terminalTable(CAUSAL, { width: 200, colours: false })).not.toContain('Identities');
  });

  test('tells new customers from returning ones, where orders say it', () => {
    const customers = {
      new: { orders: 60, revenue: 3_000 },
      returning: { orders: 80, revenue: 6_000 },
      unknown: { orders: 5, revenue: 250 },
      channels: [
        { channel: 'direct', orders: 90, new_orders: 20 },
        { channel: 'retargeting', orders: 40, new_orders: 10 },
      ],
    };
    const report = withMembers({ diagnostics: { ...CAUSAL.diagnostics, customers } });
    const said =
      'New customers placed 60 orders for $3,000, 42.9 % of those that are known; returning ones 80 for $6,000; of 5 ' +
      'nothing is said.';
    expect(terminalTable(report, { width: 300, colours: false })).toContain(said);
    const page = htmlReport(report, 'a shop');
    expect(page).toContain(said);
    // What nobody pays for is no question of where to spend.
    expect(/of new customers<\/th>.*?<\/table>/s.exec(page)![0].match(/<th scope="row">.*?<\/tr>/gs)).toHaveLength(1);
    expect(htmlReport(CAUSAL, 'a shop')).not.toContain('New and returning customers');
  });

  test('gives the interval of Delta_R where the model has one', () => {
    const models = { causal: { delta_r_interval_cents: [120_000, 451_050] } };
    const table = terminalTable(withMembers({ diagnostics: { ...CAUSAL.diagnostics, models } }), {
      ...wide,
      width: 300,
    });
    expect(table).toContain('(Delta_R) is $3,076 (95 % interval $1,200 to $4,511):');
  });

  test("does not lend the causal model's interval of Delta_R to another model", () => {
    const models = { causal: { delta_r_interval_cents: [120_000, 451_050] } };
    const report = pathModelReport();
    const table = terminalTable({ ...report, diagnostics: { ...report.diagnostics, models } }, { ...wide, width: 300 });
    expect(table).toContain('(Delta_R) is $3,076:');
    expect(table).not.toContain('$1,200');
  });

  test('a path model credits unpaid channels in rows of their own, and both columns still sum to the revenue', () => {
    const table = terminalTable(pathModelReport(), wide);
    const amounts = ['all marketing', 'direct', 'organic', 'no touch recorded'].map((label) =>
      cells(lineOf(table, label))
        .slice(2, 4)
        .map((cell) => Math.round(100 * Number(cell.replaceAll(',', '')))),
    );
    const sums = [0, 1].map((column) => amounts.reduce((sum, row) => sum + row[column]!, 0));
    expect(sums).toEqual([895_222, 895_222]);
  });

  test('says how far the figures can be trusted, and what nobody judged', () => {
    const trust = {
      hrei_score: 0.31,
      risk_level: 'low',
      components: {},
      classifications: ['misattribution', 'outdated_reference'],
      verification: { ground_truth_source: 'stored_touchpoints', claims_verified: 50, claims_total: 51 },
      not_measured: ['provenance'],
    };
    const text = terminalTable(withMembers({ trust }), { width: 400, colours: false });
    expect(text).toContain(
      'Trust: risk 0.31 of 1 (low); 50 of 51 figures confirmed a second way. Flagged: misattribution, outdated ' +
        'reference. Not judged: where the files come from.',
    );
    expect(terminalTable(CAUSAL, { width: 400, colours: false })).not.toContain('Trust:');
  });

  test('80 cells, the usual terminal, are enough for all but the confidence', () => {
    const table = terminalTable(CAUSAL, { width: 80, colours: false });
    expect(lineOf(table, 'channel').split(/ {2,}/)).toEqual([
      'channel',
      'spend',
      'last click',
      'causal revenue',
      '95 % interval',
      'ROAS',
    ]);
  });

  test('never writes beyond the width, whatever is left out, and keeps the credit to the last', () => {
    fc.assert(
      fc.property(fc.integer({ min: 44, max: 200 }), (width) => {
        const table = terminalTable(CAUSAL, { width, colours: false });
        expect(Math.max(...table.split('\n').map(displayWidth))).toBeLessThanOrEqual(width);
        expect(table).toContain('causal revenue');
        expect(table).toContain('1,440.56');
      }),
    );
  });

  test('has colours only when asked', () => {
    expect(terminalTable(CAUSAL, wide)).not.toContain('\u001B');
    expect(terminalTable(CAUSAL, { ...wide, colours: true })).toContain('\u001B[1m');
  });

  test('a channel name can neither colour nor forge the output', () => {
    const table = terminalTable(withChannel('video', { channel: '\u001B[31mvideo\nall marketing\r\u202Eoediv' }), wide);
    for (const forbidden of ['\u001B', '\r', '\u202E']) expect(table).not.toContain(forbidden);
    expect(table).toContain('·[31mvideo·all marketing··oediv');
  });
});

describe('text on a terminal', () => {
  test.each([
    ['plain', 5],
    ['検索広告', 8],
    ['검색', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['📣 promo', 8],
  ])('%j takes %i cells', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test('truncation keeps within the cells and marks what is lost', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }).map(printable), fc.integer({ min: 1, max: 30 }), (text, width) => {
        const cut = truncate(text, width);
        expect(displayWidth(cut)).toBeLessThanOrEqual(width);
        expect(cut === text || cut.endsWith('…')).toBe(true);
      }),
    );
  });

  test('wrapping keeps every word', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }),
        fc.integer({ min: 12, max: 40 }),
        (words, width) => {
          const lines = wrap(words.join(' '), width);
          expect(lines.join(' ').split(' ')).toEqual(words);
          expect(lines.every((line) => line.length <= width)).toBe(true);
        },
      ),
    );
  });
});
