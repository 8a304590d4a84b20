import * as fc from 'fast-check';
import { runEvidence } from '../../../compute/evidence/evidence.ts';
import { journeysAsPaths } from '../../../compute/evidence/journeys.ts';
import { runScrutiny } from '../../../compute/evidence/scrutiny.ts';
import type { RunOutcomes } from '../../../compute/evidence/second-credit.ts';
import { semanticEntropy } from '../../../compute/evidence/semantic-entropy.ts';
import { runSensitivity } from '../../../compute/evidence/sensitivity.ts';
import type { EventTable } from '../../../compute/journey-tables.ts';
import { runCausal } from '../../../compute/models/causal/causal.ts';
import { CAUSAL_MEMBERS } from '../../../compute/models/causal/causal-result.ts';
import { compareOnEvents } from '../../../compute/models/comparison/event-rules.ts';
import { runDominance } from '../../../compute/models/dominance/dominance.ts';
import { runMarkov } from '../../../compute/models/markov/markov.ts';
import { runPrav } from '../../../compute/models/prav/prav.ts';
import { runRelativeWeights } from '../../../compute/models/relative-weights/relative-weights.ts';
import { runShapley } from '../../../compute/models/shapley/shapley.ts';
import { DEFAULT_RUN_PARAMETERS, type RunOptions } from '../../../compute/run-options.ts';
import { DAY, IN_MARKET, shoppers } from './shoppers.ts';

const tick = () => undefined;
const RANGE = { rangeStartS: 20 * DAY, rangeEndS: 60 * DAY };
const OPTIONS: RunOptions = {
  ...DEFAULT_RUN_PARAMETERS,
  ...RANGE,
  lookbackS: 20 * DAY,
  observedUntilS: 60 * DAY,
  isBaseline: Uint8Array.from([1, 0, 0, 0]),
};
const REPLICATION = { confidenceLevel: 0.95, seed: 1 };
const BASELINE = new Set(['c0']);

function runAll(events: EventTable) {
  const paths = journeysAsPaths(events, {
    startS: RANGE.rangeStartS,
    endS: RANGE.rangeEndS,
    lookbackS: OPTIONS.lookbackS,
  });
  const comparison = compareOnEvents(events, OPTIONS, tick);
  const members = {
    markov: runMarkov(paths, 1, REPLICATION, tick),
    shapley: runShapley(paths, REPLICATION, tick),
    dominance: runDominance(paths, REPLICATION, tick),
    rwa: runRelativeWeights(paths, REPLICATION, tick),
    prav: runPrav(events, OPTIONS, [], tick),
  };
  const totals = {
    conversions: comparison.attributed.conversions + comparison.unattributed.conversions,
    revenue: comparison.attributed.value + comparison.unattributed.value,
  };
  const causal = runCausal({
    channels: events.channels,
    isBaseline: OPTIONS.isBaseline,
    confidenceLevel: 0.95,
    totals,
    members,
    comparison,
    spend: new Float64Array(events.channels.length),
    isOwnedMedia: new Uint8Array(events.channels.length),
    experiments: [],
  });
  const outcomes: RunOutcomes = { ...members, causal };
  const evidence = runEvidence(
    { paths, events, ...RANGE, lookbackS: OPTIONS.lookbackS, preceding: null, seed: 1 },
    tick,
  );
  if (!evidence.ok) throw new Error(evidence.message);
  const touches = new Map(
    events.channels.map((name, c) => [
      name,
      events.channel.filter(
        (each, i) => each === c && events.timeS[i]! >= RANGE.rangeStartS && events.timeS[i]! < RANGE.rangeEndS,
      ).length,
    ]),
  );
  return { outcomes, paths, witness: { journeys: evidence.witness, touches, ...totals, baseline: BASELINE } };
}

describe('semantic entropy', () => {
  const draw = (values: readonly number[], spread: number, groups = 50) => ({
    value: Float64Array.from(values),
    replicates: Float64Array.from(
      { length: groups * values.length },
      (_, i) => values[i % values.length]! + (((i * 7919) % 101) / 50 - 1) * spread,
    ),
    groups,
    intervalLow: null,
    intervalHigh: null,
  });

  test('is 0 where every draw tells the same story, and lies in [0, 1] for any credit', () => {
    expect(semanticEntropy(draw([50, 30, 20], 0), 1)).toBe(0);
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1000, noNaN: true }), { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 100, noNaN: true }),
        (values, spread) => {
          const entropy = semanticEntropy(draw(values, spread), 1);
          expect(entropy).toBeGreaterThanOrEqual(0);
          expect(entropy).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  test('grows as users get fewer', () => {
    const entropyOf = (users: number) => {
      const { outcomes, witness } = runAll(
        shoppers({ users, seed: 4, buys: [0.05, 0.05, 0.06, 0.07], mix: () => [1, 1, 1, 1] }),
      );
      return ['markov', 'shapley'].map((model) => {
        const scrutiny = runScrutiny({ model: model as 'markov', outcomes, witness, seed: 1 });
        return scrutiny.ok ? scrutiny.semanticEntropy : Number.NaN;
      });
    };
    const [few, more, many] = [entropyOf(300), entropyOf(3_000), entropyOf(30_000)];
    for (const model of [0, 1]) {
      expect(few[model]).toBeGreaterThan(more[model]!);
      expect(more[model]).toBeGreaterThanOrEqual(many[model]!);
    }
  });

  test('channels whose intervals lie apart are ranked by these already', () => {
    const noisy = draw([50, 49, 1], 40);
    expect(semanticEntropy(noisy, 1)).toBeGreaterThan(0);
    expect(
      semanticEntropy(
        { ...noisy, intervalLow: Float64Array.from([50, 40, 0]), intervalHigh: Float64Array.from([60, 45, 2]) },
        1,
      ),
    ).toBe(0);
  });

  test('without groups nothing is known', () => {
    expect(semanticEntropy({ ...draw([1, 2], 0), replicates: new Float64Array(0), groups: 0 }, 1)).toBe(1);
  });
});

describe('the second derivation of the credit', () => {
  const { outcomes, witness } = runAll(shoppers({ users: 4_000, seed: 21, ...IN_MARKET }));

  test.each(['causal', ...CAUSAL_MEMBERS] as const)('of %s finds what the model found', (model) => {
    const outcome = outcomes[model];
    const scrutiny = runScrutiny({ model, outcomes, witness, seed: 1 });
    if (!outcome.ok || !scrutiny.ok) throw new Error('did not run');
    expect(scrutiny.secondCredit!.channels).toEqual(outcome.channels);
    scrutiny.secondCredit!.value.forEach((value, c) =>
      expect(Math.abs(value - outcome.value[c]!)).toBeLessThanOrEqual(1e-6 * Math.abs(value) + 1e-6),
    );
  });

  test('of PRAV and causal follows the joint estimate of large samples too', () => {
    const large = runAll(shoppers({ users: 12_000, seed: 8, ...IN_MARKET }));
    expect(large.outcomes.prav).toMatchObject({ ok: true, estimator: 'joint' });
    for (const model of ['prav', 'causal'] as const) {
      const outcome = large.outcomes[model];
      const scrutiny = runScrutiny({ model, outcomes: large.outcomes, witness: large.witness, seed: 1 });
      if (!outcome.ok || !scrutiny.ok) throw new Error('did not run');
      scrutiny.secondCredit!.value.forEach((value, c) =>
        expect(Math.abs(value - outcome.value[c]!)).toBeLessThanOrEqual(1e-6 * Math.abs(value) + 1e-6),
      );
    }
  });

  test('follows neither tampered touches nor weights that miss R²', () => {
    const moved = { ...witness, touches: new Map([...witness.touches, ['c2', 1]]) };
    const { causal, prav, dominance } = outcomes;
    if (!causal.ok || !prav.ok || !dominance.ok) throw new Error('did not run');
    const found = runScrutiny({ model: 'prav', outcomes, witness: moved, seed: 1 });
    expect(found.ok && Math.abs(found.secondCredit!.value[2]! - prav.value[2]!) > 1).toBe(true);
    const broken = {
      ...dominance,
      valueOutcome: { ...dominance.valueOutcome, weight: dominance.valueOutcome.weight.map((weight) => weight * 1.01) },
    };
    expect(
      runScrutiny({ model: 'dominance', outcomes: { ...outcomes, dominance: broken }, witness, seed: 1 }),
    ).toMatchObject({ ok: true, secondCredit: null });
  });
});

test('disagreement is 0 between models that say the same, and the mean distance otherwise', () => {
  const { outcomes, witness } = runAll(shoppers({ users: 2_000, seed: 2 }));
  const { markov } = outcomes;
  if (!markov.ok) throw new Error('did not run');
  const absent = { ok: false, code: 'insufficient_data', message: '' } as const;
  const disagreement = (shares: Float64Array) => {
    const scrutiny = runScrutiny({
      model: 'markov',
      outcomes: {
        ...outcomes,
        prav: absent,
        shapley: { ...outcomes.shapley, ok: true, channels: markov.channels, share: shares } as never,
      },
      witness,
      seed: 1,
    });
    return scrutiny.ok ? scrutiny.disagreement : Number.NaN;
  };
  expect(disagreement(markov.share)).toBeCloseTo(0, 12);
  // All the paid share on one channel, against Markov's.
  const ofPaid = markov.share[1]! / (1 - markov.share[0]!);
  expect(disagreement(Float64Array.from([0, 1, 0, 0]))).toBeCloseTo(1 - ofPaid, 12);
  const alone = runScrutiny({
    model: 'markov',
    outcomes: { ...outcomes, prav: absent, shapley: absent },
    witness,
    seed: 1,
  });
  expect(alone).toMatchObject({ disagreement: 1 });
});

describe('sensitivity', () => {
  const ask = (events: EventTable, changes: object = {}) => {
    const paths = journeysAsPaths(events, {
      startS: RANGE.rangeStartS,
      endS: RANGE.rangeEndS,
      lookbackS: OPTIONS.lookbackS,
    });
    const outcome = runSensitivity(
      { paths, events, options: OPTIONS, model: 'shapley', weights: null, seed: 1, ...changes },
      tick,
    );
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome;
  };

  test('asks four other questions, and one day of many changes little', () => {
    const { distances, mean } = ask(shoppers({ users: 4_000, seed: 3 }));
    expect(Object.keys(distances)).toEqual([
      'without_first_day',
      'without_last_day',
      'shorter_lookback',
      'longer_lookback',
    ]);
    expect(mean).toBeLessThan(0.02);
    expect(mean).toBeCloseTo(Object.values(distances).reduce((sum, each) => sum + each, 0) / 4, 12);
  });

  test('a last day unlike the others shows', () => {
    const calm = ask(shoppers({ users: 3_000, seed: 3 })).distances['without_last_day']!;
    const odd = ask(
      shoppers({ users: 3_000, seed: 3, mix: (day) => (day < 59 ? [0.4, 0.3, 0.29, 0.01] : [0, 0, 0, 1]) }),
    ).distances['without_last_day']!;
    expect(odd).toBeGreaterThan(3 * calm);
  });

  test('a question without an answer counts whole', () => {
    const events = shoppers({ users: 50, seed: 3, buys: [0, 0, 0, 0] });
    expect(ask(events).mean).toBe(1);
  });

  test('paths without users lose journeys and steps instead of days', () => {
    const { distances } = ask(shoppers({ users: 4_000, seed: 3 }), { events: null });
    expect(Object.keys(distances)).toEqual(['without_a_fiftieth', 'without_another_fiftieth', 'shorter_paths']);
    expect(distances['without_a_fiftieth']).toBeLessThan(0.02);
  });

  test('the causal model keeps its weights', () => {
    const events = shoppers({ users: 3_000, seed: 3, ...IN_MARKET });
    const none = { markov: 0, shapley: 0, dominance: 0, rwa: 0, prav: 0 };
    const paid = ask(events, { model: 'causal', weights: { ...none, markov: 0.5, prav: 0.5 } });
    expect(paid.mean).toBeGreaterThan(0);
    expect(paid.mean).toBeLessThan(0.2);
    expect(ask(events, { model: 'causal', weights: { ...none, prav: 1 } }).distances['longer_lookback']).toBe(0);
  });
});
