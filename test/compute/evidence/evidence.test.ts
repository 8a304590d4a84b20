import * as fc from 'fast-check';
import { runEvidence, type EvidenceInput, type EvidenceResult } from '../../../compute/evidence/evidence.ts';
import { journeysAsPaths } from '../../../compute/evidence/journeys.ts';
import type { EventTable } from '../../../compute/journey-tables.ts';
import { runMarkov } from '../../../compute/models/markov/markov.ts';
import { runShapley } from '../../../compute/models/shapley/shapley.ts';
import { DAY, shoppers, type ShopperPlan } from './shoppers.ts';

const tick = () => undefined;
const RANGE = { rangeStartS: 30 * DAY, rangeEndS: 60 * DAY, lookbackS: 20 * DAY };
const REPLICATION = { confidenceLevel: 0.95, seed: 1 };

function evidenceOf(events: EventTable, changes: Partial<EvidenceInput> = {}): EvidenceResult {
  const input = { ...RANGE, preceding: 'in_events' as const, seed: 1, ...changes };
  const paths = journeysAsPaths(events, {
    startS: input.rangeStartS,
    endS: input.rangeEndS,
    lookbackS: input.lookbackS,
  });
  const outcome = runEvidence({ paths, events, ...input }, tick);
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome;
}
const planned = (plan: Partial<ShopperPlan> = {}): EvidenceResult =>
  evidenceOf(shoppers({ users: 6_000, seed: 7, ...plan }));

describe('calibration error', () => {
  test('is small where the order-1 chain is the truth', () => {
    expect(planned().calibrationError).toBeLessThan(0.02);
  });

  test('grows when the conversions of one fold double', () => {
    const doubled = planned({ factor: (hash) => (hash % 5 === 2 ? 2 : 1) });
    expect(doubled.calibrationError).toBeGreaterThan(planned().calibrationError + 0.02);
  });

  test('equals a direct count where nothing but the first channel matters', () => {
    // One touch per journey: the out-of-fold prediction is the other folds' conversion rate of the channel.
    const steps = ['a', 'b'];
    const rows = Array.from({ length: 200 }, (_, user) => ({
      user,
      channel: user % 2,
      buys: user % 2 === 0 ? user % 20 < 8 : user % 10 < 3,
    }));
    const events: EventTable = {
      channels: steps,
      userStart: Uint32Array.from([
        0,
        ...rows.map((_, i) => rows.slice(0, i + 1).reduce((sum, row) => sum + 1 + Number(row.buys), 0)),
      ]),
      userHash: Uint32Array.from(rows, ({ user }) => Math.floor(user / 2)),
      timeS: Float64Array.from(rows.flatMap(({ buys }) => (buys ? [40 * DAY, 40 * DAY + 1] : [40 * DAY]))),
      channel: Uint16Array.from(rows.flatMap(({ channel, buys }) => (buys ? [channel, 65_535] : [channel]))),
      conversion: Uint8Array.from(rows.flatMap(({ buys }) => (buys ? [0, 1] : [0]))),
      value: Float64Array.from(
        rows.filter(({ buys }) => buys),
        () => 1,
      ),
    };
    const rate = (of: typeof rows) => of.filter(({ buys }) => buys).length / of.length;
    const cells = Array.from({ length: 5 }, (_, fold) =>
      [0, 1].map((channel) => {
        const inFold = rows.filter((row) => row.channel === channel && Math.floor(row.user / 2) % 5 === fold);
        const outside = rows.filter((row) => row.channel === channel && Math.floor(row.user / 2) % 5 !== fold);
        return { predicted: rate(outside), observed: rate(inFold), n: inFold.length };
      }),
    ).flat();
    // Ten cells of 20 journeys are ten bins of equal mass, once sorted by their prediction.
    const expected = cells.reduce(
      (sum, { predicted, observed, n }) => sum + (n / 200) * Math.abs(predicted - observed),
      0,
    );
    expect(evidenceOf(events, { preceding: null }).calibrationError).toBeCloseTo(expected, 12);
  });
});

describe('likeness to the past', () => {
  test('is near 0 where nothing changed, against the preceding window and against the first half', () => {
    for (const preceding of ['in_events', null] as const) {
      const { perplexityAnomaly, transitionDivergence, reference } = evidenceOf(shoppers({ users: 6_000, seed: 3 }), {
        preceding,
      });
      expect(reference).toBe(preceding === null ? 'first_half' : 'preceding_window');
      expect(perplexityAnomaly).toBeLessThan(0.03);
      expect(transitionDivergence).toBeLessThan(0.02);
    }
  });

  test('grows with how far the channels moved', () => {
    const moved = (by: number) =>
      planned({ mix: (day) => (day < 30 ? [0.4, 0.3, 0.2, 0.1] : [0.4 - by, 0.3, 0.2, 0.1 + by]) });
    const [none, little, much] = [moved(0), moved(0.15), moved(0.38)];
    expect(little.transitionDivergence).toBeGreaterThan(none.transitionDivergence);
    expect(much.transitionDivergence).toBeGreaterThan(little.transitionDivergence);
    expect(much.perplexityAnomaly).toBeGreaterThan(none.perplexityAnomaly + 0.05);
  });

  test('a past read apart, of other users, is compared like one among the events', () => {
    const past = shoppers({ users: 4_000, seed: 11 });
    const { reference, transitionDivergence } = evidenceOf(shoppers({ users: 4_000, seed: 5 }), {
      preceding: { events: past },
    });
    expect(reference).toBe('preceding_window');
    expect(transitionDivergence).toBeLessThan(0.02);
  });

  test('nothing to compare with is the largest risk', () => {
    const none = { ...shoppers({ users: 0, seed: 1 }), userStart: new Uint32Array([0]) };
    expect(evidenceOf(shoppers({ users: 500, seed: 5 }), { preceding: { events: none } })).toMatchObject({
      perplexityAnomaly: 1,
      transitionDivergence: 1,
    });
  });
});

test('a file of paths is dealt into folds and halves, and measured on them', () => {
  const events = shoppers({ users: 6_000, seed: 9 });
  const paths = journeysAsPaths(events, {
    startS: RANGE.rangeStartS,
    endS: RANGE.rangeEndS,
    lookbackS: RANGE.lookbackS,
  });
  const outcome = runEvidence({ paths, events: null, ...RANGE, preceding: null, seed: 1 }, tick);
  expect(outcome).toMatchObject({ ok: true, reference: 'random_halves' });
  if (!outcome.ok) return;
  expect(outcome.calibrationError).toBeLessThan(0.02);
  expect(outcome.transitionDivergence).toBeLessThan(0.02);
});

test('second derivations agree with the models, whatever the journeys', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 200 }),
      fc.integer(),
      fc.array(fc.double({ min: 0.01, max: 0.6, noNaN: true }), { minLength: 2, maxLength: 6 }),
      (users, seed, buys) => {
        const events = shoppers({ users, seed, buys, mix: () => buys.map((_, c) => c + 1) });
        const paths = journeysAsPaths(events, {
          startS: RANGE.rangeStartS,
          endS: RANGE.rangeEndS,
          lookbackS: RANGE.lookbackS,
        });
        const [markov, shapley] = [runMarkov(paths, 1, REPLICATION, tick), runShapley(paths, REPLICATION, tick)];
        if (!markov.ok || !shapley.ok) return;
        const { witness } = evidenceOf(events);
        witness.shapley.forEach((value, c) => expect(value).toBeCloseTo(shapley.value[c]!, 8));
        const total = witness.lostValue!.reduce((sum, lost) => sum + lost, 0);
        witness.lostValue!.forEach((lost, c) =>
          expect((lost / total) * markov.totals.value).toBeCloseTo(markov.value[c]!, 6),
        );
      },
    ),
    { numRuns: 40 },
  );
});
