import * as fc from 'fast-check';
import {
  estimateEnvelope,
  recordEnvelope,
  riskLevelOf,
  type TrustMeasurement,
} from '../../../services/trust/envelope.ts';
import { DEFAULT_TRUST_WEIGHTS, parseTrustWeights, useTrustWeights } from '../../../services/trust/weights.ts';

const NOW = new Date('2026-02-01T00:00:00Z');
const VERIFICATION = {
  groundTruthSource: 'stored_touchpoints',
  claimsVerified: 1,
  claimsTotal: 1,
  confidenceIntervalsIncluded: true,
  modelRunTraceable: true,
};

function measured(
  risk: number,
  classifications: TrustMeasurement['taxonomy']['classifications'] = [],
): TrustMeasurement {
  return {
    detection: { semanticEntropy: risk, calibrationError: risk, perplexityAnomaly: risk },
    attribution: { factualGrounding: risk, knowledgeGraphDivergence: risk, promptSensitivity: risk },
    provenance: { sourceRetrievability: risk, temporalDisplacement: risk, citationReliability: risk },
    consistency: { internalConsistency: risk, logicalCoherence: risk, crossResponseConsistency: risk },
    taxonomy: { classifications },
    verification: VERIFICATION,
  };
}

afterEach(() => useTrustWeights(DEFAULT_TRUST_WEIGHTS));

test('perfect evidence is minimal, the worst is critical', () => {
  expect(estimateEnvelope(measured(0), NOW, '2026-02-01')).toMatchObject({ hreiScore: 0, riskLevel: 'minimal' });
  expect(
    estimateEnvelope(
      measured(1, ['fabrication', 'misattribution', 'outdated_reference', 'reasoning_failure']),
      NOW,
      '2026-02-01',
    ),
  ).toMatchObject({ hreiScore: 1, riskLevel: 'critical' });
});

test('a component is the mean of its metrics, taxonomy the share of four; the score is their weighted sum', () => {
  const envelope = estimateEnvelope(
    {
      ...measured(0, ['misattribution']),
      detection: { semanticEntropy: 0.6, calibrationError: 0.3, perplexityAnomaly: 0 },
    },
    NOW,
    '2026-02-01',
  );
  expect(envelope.components.detection.score).toBeCloseTo(0.3, 12);
  expect(envelope.components.taxonomy.score).toBe(0.25);
  // 0.25 · 0.3 + 0.1 · 0.25
  expect(envelope.hreiScore).toBe(0.1);
});

test('the band is read from the score of two decimals, half up, so that no score falls between bands', () => {
  const withMean = (risk: number) =>
    estimateEnvelope({ ...measured(risk), taxonomy: { classifications: [] } }, NOW, '2026-02-01');
  useTrustWeights({ detection: 1, attribution: 0, provenance: 0, consistency: 0, taxonomy: 0 });
  expect(withMean(0.205)).toMatchObject({ hreiScore: 0.21, riskLevel: 'low' });
  expect(withMean(0.2049)).toMatchObject({ hreiScore: 0.2, riskLevel: 'minimal' });
  expect(withMean(0.605)).toMatchObject({ hreiScore: 0.61, riskLevel: 'high' });
  expect([0.2, 0.21, 0.4, 0.41, 0.6, 0.61, 0.8, 0.81].map(riskLevelOf)).toEqual([
    'minimal',
    'low',
    'low',
    'moderate',
    'moderate',
    'high',
    'high',
    'critical',
  ]);
});

test('more risk in any metric never lowers the score', () => {
  const risk = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      risk,
      risk,
      fc.constantFrom('detection', 'attribution', 'provenance', 'consistency'),
      (base, other, component) => {
        const [low, high] = [Math.min(base, other), Math.max(base, other)];
        const raised = { ...measured(low), [component]: measured(high)[component as 'detection'] };
        expect(estimateEnvelope(raised, NOW, '2026-02-01').hreiScore).toBeGreaterThanOrEqual(
          estimateEnvelope(measured(low), NOW, '2026-02-01').hreiScore,
        );
      },
    ),
  );
});

test('records carry no risk, as many claims as records, and the weights of the process', () => {
  useTrustWeights({ detection: 0.2, attribution: 0.2, provenance: 0.2, consistency: 0.2, taxonomy: 0.2 });
  const envelope = recordEnvelope(3, NOW, '2025-11-01');
  expect(envelope).toMatchObject({
    hreiScore: 0,
    riskLevel: 'minimal',
    verification: { groundTruthSource: 'system_of_record', claimsVerified: 3, claimsTotal: 3 },
    metadata: { hreiVersion: '1.0.0', weights: { taxonomy: 0.2 } },
  });
});

describe('weights', () => {
  test('come in any order and sum to 1', () => {
    expect(parseTrustWeights('taxonomy=0, consistency=.25,provenance=0.25,attribution=0.25,detection=0.25')).toEqual({
      detection: 0.25,
      attribution: 0.25,
      provenance: 0.25,
      consistency: 0.25,
      taxonomy: 0,
    });
  });

  test.each([
    '',
    'detection=1',
    'detection=0.3,attribution=0.25,provenance=0.2,consistency=0.2,taxonomy=0.1',
    'detection=-1,attribution=2,provenance=0,consistency=0,taxonomy=0',
    'detection=1,detection=0,attribution=0,provenance=0,consistency=0',
    'detection=x,attribution=0.25,provenance=0.2,consistency=0.2,taxonomy=0.1',
  ])('%p is refused', (text) => expect(parseTrustWeights(text)).toBeNull());
});
