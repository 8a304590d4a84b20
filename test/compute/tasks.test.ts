import * as fc from 'fast-check';
import { runTask } from '../../compute/tasks.ts';
import type { PathTable } from '../../compute/journey-tables.ts';
import { DAY_S } from '../../compute/run-options.ts';
import { total } from './closeness.ts';
import { eventRows } from './event-rows.ts';
import { eventTable, pathTable, rawPathTable, wholeRange } from './reference-data.ts';
import type { PathRow } from './reference-data.ts';
import { figures, refusal } from './run-in-thread.ts';
import { sized } from '../run-length.ts';

const MODELS = ['markov', 'shapley', 'dominance', 'rwa'] as const;
const input = (paths: PathTable) => ({ paths, order: 2, seed: 1 });

function expectFinite(value: unknown): void {
  if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) expectFinite(part);
}

/** Whatever comes in: figures that are finite and complete, or a refusal with a sentence. */
function expectSound(rows: readonly PathRow[], paths = pathTable(rows)): void {
  for (const model of MODELS) {
    const outcome = runTask(model, input(paths), () => undefined);
    if (!outcome.ok) {
      expect(outcome.code).toBe('insufficient_data');
      expect(outcome.message).toMatch(/^[A-Z].*\.$/);
      continue;
    }
    expectFinite(outcome);
    const scale = Math.max(1, total(rows.map((row) => Math.abs(row.value))));
    expect(Math.abs(total(outcome.conversions) - outcome.totals.conversions)).toBeLessThan(
      1e-9 * Math.max(1, outcome.totals.conversions),
    );
    expect(Math.abs(total(outcome.value) - outcome.totals.value)).toBeLessThan(1e-9 * scale);
    expect(total(outcome.share)).toBeCloseTo(1, 10);
    expect(Math.min(...outcome.share)).toBeGreaterThanOrEqual(0);
  }
}

const hostile: Record<string, PathRow[]> = {
  'an empty table': [],
  'only empty paths': [{ path: [], conversions: 3, value: 9, nulls: 2 }],
  'one journey': [{ path: ['a'], conversions: 1, value: 5, nulls: 0 }],
  'one null journey': [{ path: ['a'], conversions: 0, value: 0, nulls: 1 }],
  'one channel': [{ path: ['a', 'a'], conversions: 2, value: 5, nulls: 7 }],
  'no conversions': [
    { path: ['a', 'b'], conversions: 0, value: 0, nulls: 4 },
    { path: ['b'], conversions: 0, value: 0, nulls: 2 },
  ],
  'only conversions': [
    { path: ['a', 'b'], conversions: 4, value: 40, nulls: 0 },
    { path: ['b'], conversions: 2, value: 30, nulls: 0 },
  ],
  'conversions without revenue': [
    { path: ['a', 'b'], conversions: 4, value: 0, nulls: 1 },
    { path: ['b'], conversions: 2, value: 0, nulls: 3 },
  ],
  'more refunds than sales': [
    { path: ['a', 'b'], conversions: 4, value: -90, nulls: 1 },
    { path: ['b'], conversions: 2, value: 30, nulls: 3 },
  ],
  'refunds that equal sales': [
    { path: ['a', 'b'], conversions: 1, value: -30, nulls: 1 },
    { path: ['b', 'a'], conversions: 1, value: 30, nulls: 3 },
  ],
  'revenue of billions': [
    { path: ['a', 'b'], conversions: 4, value: 4e9, nulls: 1 },
    { path: ['b'], conversions: 1, value: 1e9, nulls: 5_000_000 },
  ],
  'identical channels': [
    { path: ['a', 'b'], conversions: 4, value: 40, nulls: 3 },
    { path: ['b', 'a'], conversions: 1, value: 4, nulls: 3 },
    { path: ['c'], conversions: 1, value: 2, nulls: 8 },
  ],
  'paths of a thousand touches': [
    {
      path: Array.from({ length: 1_000 }, (_, i) => 'abc'[(i * i + (i >> 3)) % 3]!),
      conversions: 1,
      value: 70,
      nulls: 2,
    },
    {
      path: Array.from({ length: 1_000 }, (_, i) => 'abd'[(i * 7 + (i >> 2)) % 3]!),
      conversions: 2,
      value: 10,
      nulls: 5,
    },
  ],
  'names in any script': [
    { path: ['検索', 'Ελλάδα'], conversions: 1, value: 3, nulls: 4 },
    { path: ['🛒 "shop", >', '検索'], conversions: 2, value: 3, nulls: 4 },
    { path: ['__proto__', 'constructor'], conversions: 1, value: 1, nulls: 1 },
  ],
};

describe('tasks', () => {
  test.each(Object.entries(hostile))('%s', (_, rows) => {
    expectSound(rows);
    expectSound(rows, rawPathTable(rows, [...new Set(rows.flatMap((row) => row.path))]));
  });

  test('any path table at all', () => {
    const rows = fc.array(
      fc.record({
        path: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 6 }),
        conversions: fc.integer({ min: 0, max: 3 }),
        cents: fc.integer({ min: -1_000_000, max: 1_000_000_000 }),
        nulls: fc.integer({ min: 0, max: 3 }),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(rows, (drawn) => {
        const paths = drawn.map(({ path, conversions, cents, nulls }) => ({
          path,
          conversions,
          nulls,
          value: conversions === 0 ? 0 : cents / 100,
        }));
        expectSound(paths.filter((row) => row.path.length > 0));
      }),
      { numRuns: sized({ short: 100, long: 300 }) },
    );
  });

  test('any event table at all, through PRAV and the causal model', () => {
    fc.assert(
      fc.property(eventRows, fc.integer({ min: 1, max: 20 }), (rows, horizonDays) => {
        const events = eventTable(rows);
        const options = wholeRange(events, { horizonS: horizonDays * DAY_S });
        const prav = runTask('prav', { events, options }, () => undefined);
        if (prav.ok) expectFinite(prav);
        const comparison = figures('comparison', { events, options });
        const paths = pathTable(
          rows
            .filter((row) => row.channel !== '')
            .map((row) => ({
              path: [row.channel],
              conversions: Number(row.conversion),
              value: row.value,
              nulls: Number(!row.conversion),
            })),
        );
        const causal = runTask(
          'causal',
          {
            channels: events.channels,
            isBaseline: options.isBaseline,
            confidenceLevel: 0.95,
            totals: {
              conversions: comparison.attributed.conversions + comparison.unattributed.conversions,
              revenue: comparison.attributed.value + comparison.unattributed.value,
            },
            comparison,
            spend: new Float64Array(events.channels.length),
            isOwnedMedia: new Uint8Array(events.channels.length),
            experiments: [],
            members: {
              markov: runTask('markov', { paths, order: 1 }, () => undefined),
              shapley: runTask('shapley', { paths }, () => undefined),
              dominance: runTask('dominance', { paths, seed: 1 }, () => undefined),
              rwa: runTask('rwa', { paths }, () => undefined),
              prav,
            },
          },
          () => undefined,
        );
        if (!causal.ok) {
          expect(causal.code).toBe('insufficient_data');
          return;
        }
        expectFinite(causal);
        expect(total(causal.valueCents) + causal.baselineCents).toBe(causal.revenueCents);
        expect(causal.incrementalRevenue).toBeLessThanOrEqual(Math.max(0, causal.revenue));
        expect(Math.min(...causal.confidence)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...causal.confidence)).toBeLessThanOrEqual(1);
        expect(causal.deltaR.deltaRCents).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('tables that break their own contract are refused', () => {
    const good = pathTable([{ path: ['a', 'b'], conversions: 1, value: 2, nulls: 3 }]);
    const broken: PathTable[] = [
      { ...good, offsets: Uint32Array.of(0, 3) },
      { ...good, steps: Uint16Array.of(0, 9) },
      { ...good, conversions: Float64Array.of(-1) },
      { ...good, conversions: Float64Array.of(Number.NaN) },
      { ...good, value: Float64Array.of(Infinity) },
      { ...good, nulls: new Float64Array(2) },
      { ...good, channels: ['a', 'a'] },
    ];
    for (const paths of broken)
      for (const model of MODELS) expect(refusal(model, input(paths)).code).toBe('invalid_input');
    const events = eventTable([
      { user: 'u', timeS: 5, channel: 'a', conversion: false, value: 0 },
      { user: 'u', timeS: 6, channel: '', conversion: true, value: 1 },
    ]);
    const options = wholeRange(events);
    for (const change of [
      { timeS: Float64Array.of(6, 5) },
      { timeS: Float64Array.of(5, Number.NaN) },
      { value: new Float64Array(0) },
      { channel: Uint16Array.of(0, 7) },
      { userStart: Uint32Array.of(0, 1) },
    ]) {
      expect(refusal('prav', { events: { ...events, ...change }, options }).code).toBe('invalid_input');
    }
  });

  test('more channels than a model can tell apart in reasonable time', () => {
    const channels = Array.from({ length: 1_200 }, (_, i) => `channel ${i}`);
    const paths = pathTable(
      [
        { path: channels, conversions: 1, value: 1, nulls: 0 },
        { path: ['channel 5'], conversions: 1, value: 3, nulls: 2 },
      ],
      channels,
    );
    for (const model of ['markov', 'dominance', 'rwa'] as const)
      expect(refusal(model, input(paths)).code).toBe('too_many_channels');
    expect(total(figures('shapley', { paths }).conversions)).toBeCloseTo(2, 10);
  });

  test('revenue beyond floating point is refused, never Infinity', () => {
    const paths = pathTable([
      { path: ['a', 'b'], conversions: 1, value: 1.7e308, nulls: 3 },
      { path: ['b'], conversions: 1, value: 1.7e308, nulls: 1 },
    ]);
    for (const model of MODELS) expect(refusal(model, input(paths)).code).toBe('out_of_range');
  });
});
